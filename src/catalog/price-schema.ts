/** How list prices are written in prices.json: what a model costs, and where that was read. The check of prices holds the file to it. */
import { type Static, Type } from 'typebox';

const Amount = Type.String({
  pattern: '^(0|[1-9]\\d*)(\\.\\d{1,9})?$',
  description: 'a decimal amount in USD as text',
});
/** A day whose prices these are; the day of reading, where the source bears none. */
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

/** One amount, or one for each size; the row without a size is of all others. */
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
    /** Of calls with long inputs, for all their tokens. */
    tiers: Type.Optional(Type.Array(Type.Object({ from: Type.Integer({ minimum: 1 }), ...RATES }, strict))),
  },
  { ...strict, minProperties: 1 },
);

/** What no source confirms has no price: such a model is refused, not free. */
const SOURCED = {
  /** What was read: the page of the provider, or the table of somebody else. */
  source: Type.String({ pattern: '^https://' }),
  /** Somebody else with the same figures. */
  agrees: Type.Optional(Type.String({ pattern: '^https://' })),
  asOf: Day,
  note: Type.Optional(Type.String({ minLength: 1 })),
};

const ModelPrice = Type.Object(
  {
    /** The type of the provider that serves it. */
    type: Type.String({ minLength: 1 }),
    model: Type.String({ minLength: 1 }),
    kind: Type.String({ pattern: '^(chat|embed|rerank|image|speech|transcription|moderation|video)$' }),
    price: Price,
    /** Absent: the provider names no bound. */
    maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
    contextTokens: Type.Optional(Type.Integer({ minimum: 1 })),
    ...SOURCED,
  },
  strict,
);

/** What tools at the provider cost, of its chat models: USD for each call, or once where any was made. */
const ToolPrice = Type.Object(
  {
    type: Type.String({ minLength: 1 }),
    /** How the names of its models begin; absent: all. The first row that fits holds. */
    models: Type.Optional(Type.String({ minLength: 1 })),
    perToolCall: Type.Optional(Amount),
    perToolUse: Type.Optional(Amount),
    ...SOURCED,
  },
  strict,
);

export const PriceFile = Type.Object({ models: Type.Array(ModelPrice), tools: Type.Array(ToolPrice) }, strict);
export type PriceFile = Static<typeof PriceFile>;
