/** List prices of the providers' well-known models, so that a provider's key alone puts them available. */

import { GOOGLE_IMAGES, GOOGLE_VIDEOS, OPENAI_IMAGES } from './image-prices.ts';
import type { Listed, ListedPrice, MediaPrices, Sourced, ToolPrices } from './listed-price.ts';
import {
  DASHSCOPE_OTHERS,
  GOOGLE_OTHERS,
  GROQ_OTHERS,
  MISTRAL_OTHERS,
  OPENAI_OTHERS,
  VOYAGE_OTHERS,
} from './other-prices.ts';

interface VendorPrices extends Sourced {
  /** The provider type that serves them; one type's models may be from several sources. */
  type: string;
  models: readonly Listed[];
  media?: readonly MediaPrices[];
}

/** Of a web search, the tool most used; a container of OpenAI's code interpreter is dearer, its file search cheaper. */
const TOOLS: { readonly [type: string]: readonly ToolPrices[] } = {
  openai: [{ perToolCall: '0.01', source: 'https://developers.openai.com/api/docs/pricing', asOf: '2026-11-22' }],
  anthropic: [
    { perToolCall: '0.01', source: 'https://platform.claude.com/docs/en/about-claude/pricing', asOf: '2026-11-22' },
  ],
  google: [
    {
      of: /^gemini-2\.5/,
      perToolUse: '0.035',
      source: 'https://ai.google.dev/gemini-api/docs/pricing: by the grounded prompt',
      asOf: '2026-11-22',
    },
    {
      perToolCall: '0.014',
      source: 'https://ai.google.dev/gemini-api/docs/pricing: by the search query',
      asOf: '2026-11-22',
    },
  ],
  xai: [{ perToolCall: '0.005', source: 'https://docs.x.ai/developers/pricing', asOf: '2026-11-22' }],
};

function toolPrice(type: string, name: string): { perToolCall?: string; perToolUse?: string } {
  const found = TOOLS[type]?.find(({ of }) => of === undefined || of.test(name));
  if (!found) return {};
  const { perToolCall, perToolUse } = found;
  return { ...(perToolCall !== undefined && { perToolCall }), ...(perToolUse !== undefined && { perToolUse }) };
}

const M = 1_000_000;

const times = (usd: string, factor: number) => (Number(usd) * factor).toFixed(6);

/**
 * OpenAI's models with a window of a million: above 272,000 tokens of input all input costs twice, all output one and a half
 * times. So say its page of GPT-6.2 Sol, and those who quote its pages of the others (LiteLLM of Astra and GPT-6.1).
 */
function longAbove272k(price: ListedPrice): ListedPrice {
  const { input, cachedInput, cacheWrite, output } = price;
  const tier = {
    from: 272_001,
    input: times(input, 2),
    ...(cachedInput !== undefined && { cachedInput: times(cachedInput, 2) }),
    ...(cacheWrite !== undefined && { cacheWrite: times(cacheWrite, 2) }),
    output: times(output, 1.5),
  };
  return { ...price, tiers: [tier] };
}

/** xAI: from 200,000 tokens of input on, everything costs twice. */
function doubleFrom200k({ input, cachedInput = input, output }: ListedPrice): ListedPrice {
  const tier = {
    from: 200_000,
    input: times(input, 2),
    cachedInput: times(cachedInput, 2),
    output: times(output, 2),
  };
  return { input, cachedInput, output, tiers: [tier] };
}

const OPENAI: readonly Listed[] = [
  [
    'gpt-6.1-sol',
    longAbove272k({ input: '2', cachedInput: '0.1', cacheWrite: '2.5', output: '10' }),
    128_000,
    1_050_000,
  ],
  [
    'gpt-6.1-terra',
    longAbove272k({ input: '1', cachedInput: '0.05', cacheWrite: '1.25', output: '5' }),
    128_000,
    1_050_000,
  ],
  [
    'gpt-6-astra',
    longAbove272k({ input: '10', cachedInput: '1', cacheWrite: '12.5', output: '50' }),
    128_000,
    1_050_000,
  ],
  ['gpt-6-sol', longAbove272k({ input: '2', cachedInput: '0.2', cacheWrite: '2.5', output: '10' }), 128_000, 1_050_000],
  [
    'gpt-6-luna',
    longAbove272k({ input: '0.1', cachedInput: '0.01', cacheWrite: '0.125', output: '0.5' }),
    128_000,
    1_050_000,
  ],
  ['gpt-5.6', longAbove272k({ input: '4', cachedInput: '0.4', cacheWrite: '5', output: '20' }), 128_000, 1_050_000],
  ['gpt-5.6-sol', longAbove272k({ input: '4', cachedInput: '0.4', cacheWrite: '5', output: '20' }), 128_000, 1_050_000],
  [
    'gpt-5.6-terra',
    longAbove272k({ input: '2', cachedInput: '0.2', cacheWrite: '2.5', output: '12' }),
    128_000,
    1_050_000,
  ],
  [
    'gpt-5.6-luna',
    longAbove272k({ input: '0.2', cachedInput: '0.02', cacheWrite: '0.25', output: '1.2' }),
    128_000,
    1_050_000,
  ],
  ['gpt-5.5', longAbove272k({ input: '5', cachedInput: '0.5', output: '30' }), 128_000, 1_050_000],
  ['gpt-5.4', longAbove272k({ input: '2.5', cachedInput: '0.25', output: '15' }), 128_000, 1_050_000],
  ['gpt-5.4-mini', { input: '0.75', cachedInput: '0.075', output: '4.5' }, 128_000, 400_000],
  ['gpt-5.4-nano', { input: '0.2', cachedInput: '0.02', output: '1.25' }, 128_000, 400_000],
  ['gpt-5.2', { input: '1.75', cachedInput: '0.175', output: '14' }, 128_000, 400_000],
  ['gpt-5.1', { input: '1.25', cachedInput: '0.125', output: '10' }, 128_000, 400_000],
  ['gpt-5', { input: '1.25', cachedInput: '0.125', output: '10' }, 128_000, 400_000],
  ['gpt-5-mini', { input: '0.25', cachedInput: '0.025', output: '2' }, 128_000, 400_000],
  ['gpt-5-nano', { input: '0.05', cachedInput: '0.005', output: '0.4' }, 128_000, 400_000],
  ['gpt-4.1', { input: '2', cachedInput: '0.5', output: '8' }, 32_768, 1_047_576],
  ['gpt-4.1-mini', { input: '0.4', cachedInput: '0.1', output: '1.6' }, 32_768, 1_047_576],
  ['gpt-4.1-nano', { input: '0.1', cachedInput: '0.025', output: '0.4' }, 32_768, 1_047_576],
  ['gpt-4o', { input: '2.5', cachedInput: '1.25', output: '10' }, 16_384, 128_000],
  ['gpt-4o-2024-11-20', { input: '2.5', cachedInput: '1.25', output: '10' }, 16_384, 128_000],
  ['gpt-4o-2024-08-06', { input: '2.5', cachedInput: '1.25', output: '10' }, 16_384, 128_000],
  ['gpt-4o-mini', { input: '0.15', cachedInput: '0.075', output: '0.6' }, 16_384, 128_000],
  ['gpt-4o-mini-2024-07-18', { input: '0.15', cachedInput: '0.075', output: '0.6' }, 16_384, 128_000],
  ['gpt-audio', { input: '2.5', output: '10', audioInput: '32', audioOutput: '64' }, 16_384, 128_000],
  ['gpt-audio-mini', { input: '0.6', output: '2.4', audioInput: '10', audioOutput: '20' }, 16_384, 128_000],
  ['o4-mini', { input: '1.1', cachedInput: '0.275', output: '4.4' }, 100_000, 200_000],
  ['o3', { input: '2', cachedInput: '0.5', output: '8' }, 100_000, 200_000],
  ['o3-mini', { input: '1.1', cachedInput: '0.55', output: '4.4' }, 100_000, 200_000],
  ['o1', { input: '15', cachedInput: '7.5', output: '60' }, 100_000, 200_000],
  ['gpt-4-turbo', { input: '10', output: '30' }, 4_096, 128_000],
  ['gpt-4', { input: '30', output: '60' }, 8_192, 8_192],
  ['gpt-3.5-turbo', { input: '0.5', output: '1.5' }, 4_096, 16_385],
  ['gpt-3.5-turbo-instruct', { input: '1.5', output: '2' }, 4_096, 4_096],
];

const OPENAI_NEWEST: readonly Listed[] = [
  [
    'gpt-6.2-sol',
    longAbove272k({ input: '2', cachedInput: '0.1', cacheWrite: '2.5', output: '10' }),
    128_000,
    1_050_000,
  ],
];

/** Anthropic's caching: writing costs 1.25 times the input for 5 minutes, twice the input for an hour. */
const claude = (input: string, cachedInput: string, cacheWrite: string, cacheWriteHour: string, output: string) => ({
  input,
  cachedInput,
  cacheWrite,
  cacheWriteHour,
  output,
});

const ANTHROPIC: readonly Listed[] = [
  ['claude-fable-5-2', claude('8', '0.2', '10', '16', '40'), 128_000, M],
  ['claude-fable-5-1', claude('10', '0.25', '12.5', '20', '50'), 128_000, M],
  ['claude-fable-5', claude('10', '1', '12.5', '20', '50'), 128_000, M],
  ['claude-mythos-5-1', claude('10', '0.25', '12.5', '20', '50'), 128_000, M],
  ['claude-mythos-5', claude('10', '1', '12.5', '20', '50'), 128_000, M],
  ['claude-opus-5-5', claude('4', '0.2', '5', '8', '20'), 128_000, M],
  ['claude-opus-5', claude('5', '0.5', '6.25', '10', '25'), 128_000, M],
  ['claude-opus-4-8', claude('5', '0.5', '6.25', '10', '25'), 128_000, M],
  ['claude-opus-4-7', claude('5', '0.5', '6.25', '10', '25'), 128_000, M],
  ['claude-opus-4-6', claude('5', '0.5', '6.25', '10', '25'), 128_000, M],
  ['claude-opus-4-5', claude('5', '0.5', '6.25', '10', '25'), 64_000, 200_000],
  ['claude-opus-4-5-20251101', claude('5', '0.5', '6.25', '10', '25'), 64_000, 200_000],
  ['claude-opus-4-1', claude('15', '1.5', '18.75', '30', '75'), 32_000, 200_000],
  ['claude-sonnet-5-5', claude('2', '0.1', '2.5', '4', '10'), 128_000, M],
  ['claude-sonnet-5', claude('2', '0.2', '2.5', '4', '10'), 128_000, M],
  ['claude-sonnet-4-6', claude('3', '0.3', '3.75', '6', '15'), 64_000, M],
  ['claude-sonnet-4-5', claude('3', '0.3', '3.75', '6', '15'), 64_000, 200_000],
  ['claude-sonnet-4-5-20250929', claude('3', '0.3', '3.75', '6', '15'), 64_000, 200_000],
  [
    'claude-haiku-5-5',
    {
      ...claude('0.1', '0.01', '0.125', '0.2', '0.5'),
      tiers: [{ from: 100_001, ...claude('0.5', '0.05', '0.625', '1', '2.5') }],
    },
    128_000,
    M,
  ],
  ['claude-haiku-4-5', claude('1', '0.1', '1.25', '2', '5'), 64_000, 200_000],
  ['claude-haiku-4-5-20251001', claude('1', '0.1', '1.25', '2', '5'), 64_000, 200_000],
];

/** The half price of the 3.6 to 3.8 Flash models ends with 2026: from 2027 on it is 1.5, 0.15 and 7.5. */
const GOOGLE: readonly Listed[] = [
  ['gemini-3.8-flash', { input: '0.75', cachedInput: '0.075', output: '3.75' }, 65_536, 1_048_576],
  ['gemini-3.7-flash', { input: '0.75', cachedInput: '0.075', output: '3.75' }, 65_536, 1_048_576],
  ['gemini-3.6-flash', { input: '0.75', cachedInput: '0.075', output: '3.75' }, 65_536, 1_048_576],
  ['gemini-3.5-flash', { input: '1.5', cachedInput: '0.15', output: '9' }, 65_536, 1_048_576],
  ['gemini-3.5-flash-lite', { input: '0.3', cachedInput: '0.03', output: '2.5' }, 65_536, 1_048_576],
  [
    'gemini-3.1-pro-preview',
    {
      input: '2',
      cachedInput: '0.2',
      output: '12',
      tiers: [{ from: 200_001, input: '4', cachedInput: '0.4', output: '18' }],
    },
    65_536,
    1_048_576,
  ],
  [
    'gemini-3.1-flash-lite',
    { input: '0.25', cachedInput: '0.025', output: '1.5', audioInput: '0.5' },
    65_536,
    1_048_576,
  ],
  ['gemini-3-flash-preview', { input: '0.5', cachedInput: '0.05', output: '3', audioInput: '1' }, 65_536, 1_048_576],
  [
    'gemini-2.5-pro',
    {
      input: '1.25',
      cachedInput: '0.125',
      output: '10',
      tiers: [{ from: 200_001, input: '2.5', cachedInput: '0.25', output: '15' }],
    },
    65_536,
    1_048_576,
  ],
  ['gemini-2.5-flash', { input: '0.3', cachedInput: '0.03', output: '2.5', audioInput: '1' }, 65_536, 1_048_576],
  ['gemini-2.5-flash-lite', { input: '0.1', cachedInput: '0.01', output: '0.4', audioInput: '0.3' }, 65_536, 1_048_576],
];

/** The peak prices, so that nobody sells below cost: off-peak it is half. `deepseek-v4-flash` is the old name of `deepseek-flash`. */
const DEEPSEEK: readonly Listed[] = [
  ['deepseek-flash', { input: '0.3', cachedInput: '0.006', output: '1.2' }, 384_000, M],
  ['deepseek-v4-flash', { input: '0.3', cachedInput: '0.006', output: '1.2' }, 384_000, M],
  ['deepseek-v4-pro', { input: '1.32', cachedInput: '0.044', output: '3.96' }, 384_000, M],
];

const GROQ: readonly Listed[] = [
  ['openai/gpt-oss-120b', { input: '0.15', cachedInput: '0.075', output: '0.6' }, 65_536, 131_072],
  ['openai/gpt-oss-20b', { input: '0.075', cachedInput: '0.0375', output: '0.3' }, 65_536, 131_072],
  ['llama-3.3-70b-versatile', { input: '0.59', output: '0.79' }, 32_768, 131_072],
  ['llama-3.1-8b-instant', { input: '0.05', output: '0.08' }, 131_072, 131_072],
  ['meta-llama/llama-4-scout-17b-16e-instruct', { input: '0.11', output: '0.34' }, 8_192, 131_072],
  ['qwen/qwen3-32b', { input: '0.29', output: '0.59' }, 40_960, 131_072],
];

const MISTRAL: readonly Listed[] = [
  ['mistral-large-latest', { input: '0.5', output: '1.5' }, undefined, 262_144],
  ['mistral-medium-latest', { input: '1.5', output: '7.5' }, undefined, 262_144],
  ['mistral-medium-2508', { input: '0.4', output: '2' }, undefined, 262_144],
  ['mistral-small-latest', { input: '0.15', output: '0.6' }, undefined, 256_000],
  ['magistral-medium-latest', { input: '2', output: '5' }, undefined, 128_000],
  ['ministral-8b-latest', { input: '0.1', output: '0.1' }, undefined, 128_000],
  ['ministral-3b-latest', { input: '0.04', output: '0.04' }, undefined, 128_000],
  ['codestral-latest', { input: '0.3', output: '0.9' }, undefined, 256_000],
];

const XAI: readonly Listed[] = [
  ['grok-4.7', doubleFrom200k({ input: '2', cachedInput: '0.5', output: '6' }), undefined, 500_000],
  ['grok-4.6', doubleFrom200k({ input: '2', cachedInput: '0.5', output: '6' }), undefined, 500_000],
  ['grok-4.5', doubleFrom200k({ input: '2', cachedInput: '0.5', output: '6' }), undefined, 500_000],
  ['grok-4.3', doubleFrom200k({ input: '1.25', cachedInput: '0.2', output: '2.5' }), undefined, M],
  ['grok-4.20-0309-reasoning', doubleFrom200k({ input: '1.25', cachedInput: '0.2', output: '2.5' }), undefined, M],
  ['grok-4.20-0309-non-reasoning', doubleFrom200k({ input: '1.25', cachedInput: '0.2', output: '2.5' }), undefined, M],
  ['grok-build-0.1', { input: '1', cachedInput: '0.2', output: '2' }, undefined, 256_000],
];

/**
 * The prices each provider lists for everybody, without warranty: providers change them, and operators set their own in
 * modelport.yaml or by the admin API. Surcharges for
 * priority processing and regions are not in them.
 */
export const PRICE_LIST: readonly VendorPrices[] = [
  {
    type: 'openai',
    source: 'https://developers.openai.com/api/docs/pricing',
    asOf: '2026-10-27',
    models: OPENAI,
    media: [...OPENAI_IMAGES, ...OPENAI_OTHERS],
  },
  {
    type: 'openai',
    source: 'https://developers.openai.com/api/docs/models/gpt-6.2-sol',
    asOf: '2026-11-21',
    models: OPENAI_NEWEST,
  },
  {
    type: 'anthropic',
    source: 'https://platform.claude.com/docs/en/about-claude/pricing',
    asOf: '2026-10-24',
    models: ANTHROPIC,
  },
  {
    type: 'google',
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    asOf: '2026-10-07',
    models: GOOGLE,
    media: [...GOOGLE_IMAGES, GOOGLE_VIDEOS, ...GOOGLE_OTHERS],
  },
  {
    type: 'deepseek',
    source: 'https://api-docs.deepseek.com/quick_start/pricing',
    asOf: '2026-10-27',
    models: DEEPSEEK,
  },
  { type: 'groq', source: 'https://groq.com/pricing', asOf: '2026-07-02', models: GROQ, media: GROQ_OTHERS },
  { type: 'mistral', source: 'https://mistral.ai/pricing', asOf: '2026-07-02', models: MISTRAL, media: MISTRAL_OTHERS },
  {
    type: 'voyage',
    source: 'https://vercel.com/ai-gateway/models/',
    asOf: '2026-11-21',
    models: [],
    media: VOYAGE_OTHERS,
  },
  {
    type: 'dashscope',
    source: 'https://www.alibabacloud.com/help/en/model-studio/',
    asOf: '2025-12-15',
    models: [],
    media: DASHSCOPE_OTHERS,
  },
  { type: 'xai', source: 'https://docs.x.ai/docs/models', asOf: '2026-09-29', models: XAI },
];

/** Providers of these types, named after them, and their well-known models, in the people's form. */
export function listedCatalogue(types: readonly string[]) {
  const vendors = PRICE_LIST.filter(({ type }) => types.includes(type));
  const models = vendors.flatMap(({ type, models: listed, media = [] }) => [
    ...listed.map(([name, price, maxOutputTokens, contextTokens]) => ({
      name,
      kind: 'chat',
      price: { ...price, ...toolPrice(type, name) },
      maxOutputTokens,
      contextTokens,
      targets: [{ provider: type }],
    })),
    ...media.flatMap(({ kind, models: others }) =>
      others.map(([name, price]) => ({ name, kind, price, targets: [{ provider: type }] })),
    ),
  ]);
  return { providers: types.map((type) => ({ name: type, type })), models };
}
