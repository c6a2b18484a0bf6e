/** The schema of prices.json: what a model costs, and the source. `npm run check` validates the file against it. */
import { type Static, Type } from 'typebox';

const Amount = Type.String({
  pattern: '^(0|[1-9]\\d*)(\\.\\d{1,9})?$',
  description: 'a decimal amount in USD as text',
});
/** The day of the prices; the day of reading, if the source has no date. */
const Day = Type.String({ pattern: '^20\\d\\d-[01]\\d-[0-3]\\d$' });
const strict = { additionalProperties: false } as const;

/** USD per million tokens. */
const RATES = {
  input: Type.Optional(Amount),
  cachedInput: Type.Optional(Amount),
  cacheWrite: Type.Optional(Amount),
  cacheWriteHour: Type.Optional(Amount),
  output: Type.Optional(Amount),
  audioInput: Type.Optional(Amount),
  audioOutput: Type.Optional(Amount),
  imageInput: Type.Optional(Amount),
  imageOutput: Type.Optional(Amount),
};

/** One amount, or one for each size; a row without a size applies to all others. */
const BySize = Type.Union([
  Amount,
  Type.Array(Type.Object({ size: Type.Optional(Type.String()), price: Amount }, strict), { minItems: 1 }),
]);

const Price = Type.Object(
  {
    ...RATES,
    perImage: Type.Optional(BySize),
    perInputImage: Type.Optional(Amount),
    perSecond: Type.Optional(BySize),
    perMillionCharacters: Type.Optional(Amount),
    perCall: Type.Optional(Amount),
    /** For calls with long inputs, for all their tokens. */
    tiers: Type.Optional(Type.Array(Type.Object({ from: Type.Integer({ minimum: 1 }), ...RATES }, strict))),
  },
  { ...strict, minProperties: 1 },
);

/** Without a confirmed source there is no price, and the model is refused instead of free. */
const SOURCED = {
  /** What was read: the provider's page, or another published table. */
  source: Type.String({ pattern: '^https://' }),
  /** Another source with the same figures. */
  agrees: Type.Optional(Type.String({ pattern: '^https://' })),
  asOf: Day,
  note: Type.Optional(Type.String({ minLength: 1 })),
};

const ModelPrice = Type.Object(
  {
    /** The type of the provider. */
    type: Type.String({ minLength: 1 }),
    model: Type.String({ minLength: 1 }),
    kind: Type.String({ pattern: '^(chat|embed|rerank|image|speech|transcription|moderation|video)$' }),
    price: Price,
    /** Absent: the provider names no limit. */
    maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
    contextTokens: Type.Optional(Type.Integer({ minimum: 1 })),
    ...SOURCED,
  },
  strict,
);

/** Prices of provider tools for chat models: USD per call, or once if any tool was used. */
const ToolPrice = Type.Object(
  {
    type: Type.String({ minLength: 1 }),
    /** The prefix of the model names; absent: all. The first matching row applies. */
    models: Type.Optional(Type.String({ minLength: 1 })),
    perToolCall: Type.Optional(Amount),
    perToolUse: Type.Optional(Amount),
    ...SOURCED,
  },
  strict,
);

export const PriceFile = Type.Object({ models: Type.Array(ModelPrice), tools: Type.Array(ToolPrice) }, strict);
export type PriceFile = Static<typeof PriceFile>;
