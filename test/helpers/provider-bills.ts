/**
 * What each provider would bill for a recorded reply, computed from its raw usage by the provider's own rule. Uses no code of the gateway
 * except the type of prices.
 */
import type { Price } from '../../src/canonical/price.ts';
import { type RecordedCase, replyBytes } from './fixtures.ts';

/** Pico-USD per token; different primes, so that errors do not cancel out. */
const RATES = {
  input: 3_000_017n,
  cachedInput: 300_007n,
  cacheWrite: 3_750_013n,
  cacheWriteHour: 6_000_011n,
  output: 15_000_017n,
  reasoning: 17_000_023n,
  audioInput: 10_000_019n,
  audioOutput: 20_000_003n,
  imageInput: 5_000_011n,
  imageOutput: 40_000_003n,
};

/** Other units of embeddings and rankings: pico-USD per character, nano-USD per search. */
const OTHER_RATES = { perCharacter: 25_013n, perCall: 2_000_003n };

type Raw = { readonly [member: string]: unknown };
type Counts = { [rate in keyof typeof RATES | keyof typeof OTHER_RATES]?: number };

export interface ProviderBill {
  price: Price;
  /** Nano-USD, rounded up once. */
  amount: bigint;
}

/** `undefined` if the provider reported nothing. */
export function providerBill(recorded: RecordedCase): ProviderBill | undefined {
  const counts = countsOf(recorded);
  if (!counts) return undefined;
  const { perCharacter = 0, perCall = 0, ...tokens } = counts;
  let pico = BigInt(perCharacter) * OTHER_RATES.perCharacter;
  for (const [rate, count] of Object.entries(tokens)) pico += BigInt(count) * RATES[rate as keyof typeof RATES];
  return { price: priceOf(counts), amount: (pico + 999n) / 1000n + BigInt(perCall) * OTHER_RATES.perCall };
}

/** Chat is priced by all kinds of tokens, everything else by what its provider reports. */
function priceOf(counts: Counts): Price {
  if (counts.output !== undefined) return RATES;
  const all = { ...RATES, ...OTHER_RATES };
  return Object.fromEntries(Object.entries(all).filter(([rate]) => rate in counts));
}

/** Whether the reply contains any usage figure, under any provider's names. */
export function reportsUsage(recorded: RecordedCase): boolean {
  return USAGE_WORDS.test(Buffer.from(replyBytes(recorded)).toString('latin1'));
}

const USAGE_WORDS =
  /"(usage|usageMetadata|billed_units|input_?tokens|total_?tokens|inputTextTokenCount|billableCharacterCount)"\s*:\s*[{\d]/i;

/** The cost that xAI reports, in ticks of 1e-10 USD. */
export function ticksOf(recorded: RecordedCase): { model: string; ticks: bigint; usesTools: boolean } | undefined {
  const reply = payloads(recorded)
    .map((payload) => record(payload.response) ?? payload)
    .findLast((payload) => number(record(payload.usage)?.cost_in_usd_ticks) > 0);
  const usage = record(reply?.usage);
  if (!usage) return undefined;
  return {
    model: String(reply?.model),
    ticks: BigInt(number(usage.cost_in_usd_ticks)),
    usesTools: number(usage.num_server_side_tools_used) + number(usage.num_sources_used) > 0,
  };
}

/** OpenRouter's prices of the recorded models, in pico-USD per token. */
const sonnet = { input: 3_000_000n, cachedInput: 300_000n, cacheWrite: 3_750_000n, output: 15_000_000n };
const haiku = { input: 1_000_000n, cachedInput: 100_000n, cacheWrite: 1_250_000n, output: 5_000_000n };
const OPENROUTER_PRICES: readonly [model: RegExp, price: Price][] = [
  [/^anthropic\/claude.*sonnet/, sonnet],
  [/^anthropic\/claude.*haiku/, haiku],
  [/^openai\/gpt-5\.6-sol/, { input: 5_000_000n, cacheWrite: 6_250_000n, output: 30_000_000n }],
  [/^openai\/gpt-5\.2/, { input: 1_750_000n, output: 14_000_000n }],
  [/^openai\/o3/, { input: 2_000_000n, output: 8_000_000n }],
  [/^x-ai\/grok-4/, { input: 3_000_000n, cachedInput: 750_000n, output: 15_000_000n }],
  [/^google\/gemini-2\.5-flash/, { input: 300_000n, output: 2_500_000n }],
  [/^qwen\/qwen3-30b/, { input: 100_000n, output: 300_000n }],
];

/** The cost that OpenRouter reports for tokens, without web searches; `undefined` if it reports none. */
export function openrouterBill(recorded: RecordedCase): ProviderBill | undefined {
  const reply = payloads(recorded)
    .map((payload) => record(payload.response) ?? payload)
    .findLast((payload) => number(record(payload.usage)?.cost) > 0);
  const usage = record(reply?.usage);
  const price = OPENROUTER_PRICES.find(([model]) => model.test(String(reply?.model)))?.[1];
  if (!usage || !price) return undefined;
  const details = record(usage.cost_details) ?? {};
  const ofTokens = number(details.upstream_inference_prompt_cost) + number(details.upstream_inference_completions_cost);
  return { price, amount: BigInt(Math.round((ofTokens || number(usage.cost)) * 1e9)) };
}

function countsOf(recorded: RecordedCase): Counts | undefined {
  switch (recorded.wire) {
    case 'openai-chat':
    case 'openai-completions':
      return openaiCounts(
        recorded,
        last(recorded, (one) => one.usage ?? record(one.x_groq)?.usage),
      );
    case 'openai-responses':
    case 'openai-responses-compact':
      return openaiCounts(
        recorded,
        last(recorded, (one) => record(one.response)?.usage ?? one.usage),
      );
    case 'anthropic-messages':
      return anthropicCounts(recorded);
    case 'gemini-generatecontent':
      return geminiCounts(last(recorded, (one) => one.usageMetadata));
    case 'bedrock-converse':
      return bedrockCounts(last(recorded, (one) => record(one.metadata)?.usage ?? one.usage));
    case 'openai-embeddings':
    case 'voyage-rerank':
    case 'dashscope-rerank':
      return tokensAlone(last(recorded, (one) => one.usage));
    case 'cohere-embed':
    case 'cohere-rerank':
      return cohereCounts(last(recorded, (one) => one));
    case 'gemini-batch-embed':
      return tokensAlone(last(recorded, (one) => one.usageMetadata));
    case 'vertex-embeddings':
      return vertexCounts(last(recorded, (one) => one));
    default:
      throw new Error(`no billing rule for ${recorded.wire}`);
  }
}

/** OpenAI: the prompt includes cached, written, audio and image tokens; the completion includes reasoning and audio. */
function openaiCounts({ provider }: RecordedCase, usage: Raw | undefined): Counts | undefined {
  if (!usage) return undefined;
  const prompt = number(usage.prompt_tokens) || number(usage.input_tokens);
  let completion = number(usage.completion_tokens) || number(usage.output_tokens);
  const inside = record(usage.prompt_tokens_details) ?? record(usage.input_tokens_details) ?? {};
  const made = record(usage.completion_tokens_details) ?? record(usage.output_tokens_details) ?? {};
  const beyond = number(usage.total_tokens) - prompt - completion;
  // xAI's chat counts reasoning in addition to the completion; Google's compatible format includes it only in the total.
  let reasoning = number(made.reasoning_tokens);
  if (provider === 'xai' && beyond > 0) completion += reasoning;
  if (provider === 'google-openai-compat' && beyond > 0) {
    reasoning = beyond;
    completion += beyond;
  }
  // DeepSeek, Moonshot and Mistral have names of their own in addition to OpenAI's.
  const named =
    number(inside.cached_tokens) ||
    number(usage.prompt_cache_hit_tokens) ||
    number(usage.cached_tokens) ||
    number(usage.num_cached_tokens);
  // Azure's Grok has reported more cached tokens than input.
  const cached = Math.min(prompt, named);
  const written = number(inside.cache_write_tokens);
  const audio = number(inside.audio_tokens);
  const image = Math.min(number(inside.image_tokens), prompt - cached - written - audio);
  const spoken = number(made.audio_tokens);
  // OpenRouter has reported more reasoning tokens than output.
  reasoning = Math.min(reasoning, completion);
  return {
    input: prompt - cached - written - audio - image,
    cachedInput: cached,
    cacheWrite: written,
    audioInput: audio,
    imageInput: image,
    output: completion - reasoning - spoken,
    reasoning,
    audioOutput: spoken,
  };
}

/**
 * Anthropic: cached and written tokens are in addition to `input_tokens`; compaction and advisor steps are billed in addition to the
 * totals.
 */
function anthropicCounts(recorded: RecordedCase): Counts | undefined {
  const seen = payloads(recorded)
    .map((one) => record(one.usage) ?? record(record(one.message)?.usage))
    .filter((usage) => usage !== undefined);
  if (seen.length === 0) return undefined;
  const usage: Raw = Object.assign({}, ...seen.map(withoutNulls));
  const passes = Array.isArray(usage.iterations) ? (usage.iterations as Raw[]) : [];
  const beside = passes.filter(({ type }) => type === 'compaction' || type === 'advisor_message');
  const counts = { input: 0, cachedInput: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0 };
  for (const pass of [usage, ...beside]) {
    const hour = number(record(pass.cache_creation)?.ephemeral_1h_input_tokens);
    const thinking = number(record(pass.output_tokens_details)?.thinking_tokens);
    counts.input += number(pass.input_tokens);
    counts.cachedInput += number(pass.cache_read_input_tokens);
    counts.cacheWrite += number(pass.cache_creation_input_tokens) - hour;
    counts.cacheWriteHour += hour;
    counts.output += number(pass.output_tokens) - thinking;
    counts.reasoning += thinking;
  }
  return counts;
}

/** Google: the prompt includes cached tokens; reasoning and tool prompts are in addition; each modality has a price. */
function geminiCounts(usage: Raw | undefined): Counts | undefined {
  if (!usage) return undefined;
  const prompt = number(usage.promptTokenCount) + number(usage.toolUsePromptTokenCount);
  const cached = Math.min(prompt, number(usage.cachedContentTokenCount));
  const promptDetails = [usage.promptTokensDetails, usage.toolUsePromptTokensDetails];
  // Cached tokens have the cache price, whatever their modality.
  const audio = Math.min(prompt - cached, modality(promptDetails, 'AUDIO'));
  const image = Math.min(prompt - cached - audio, modality(promptDetails, 'IMAGE'));
  const made = [usage.candidatesTokensDetails];
  const spoken = modality(made, 'AUDIO');
  const generated = modality(made, 'IMAGE');
  return {
    input: prompt - cached - audio - image,
    cachedInput: cached,
    audioInput: audio,
    imageInput: image,
    output: number(usage.candidatesTokenCount) - spoken - generated,
    reasoning: number(usage.thoughtsTokenCount),
    audioOutput: spoken,
    imageOutput: generated,
  };
}

/** Bedrock: as Anthropic with other names; the cache duration is in the details. */
function bedrockCounts(usage: Raw | undefined): Counts | undefined {
  if (!usage) return undefined;
  const written = number(usage.cacheWriteInputTokens);
  const details = Array.isArray(usage.cacheDetails) ? (usage.cacheDetails as Raw[]) : [];
  const hour = details.filter(({ ttl }) => ttl === '1h').reduce((sum, one) => sum + number(one.inputTokens), 0);
  return {
    input: number(usage.inputTokens),
    cachedInput: number(usage.cacheReadInputTokens),
    cacheWrite: written - hour,
    cacheWriteHour: hour,
    output: number(usage.outputTokens),
  };
}

/** Embeddings and rankings have no output. */
function tokensAlone(usage: Raw | undefined): Counts | undefined {
  if (!usage) return undefined;
  return { input: number(usage.prompt_tokens) || number(usage.total_tokens) || number(usage.promptTokenCount) };
}

/** Cohere: tokens of embeddings, searches of rankings; other providers of its format charge tokens for both. */
function cohereCounts(reply: Raw | undefined): Counts | undefined {
  const billed = record(record(reply?.meta)?.billed_units);
  if (!billed) return tokensAlone(record(reply?.usage));
  if (billed.search_units !== undefined) return { perCall: number(billed.search_units) };
  return { input: number(billed.input_tokens) };
}

/** Vertex AI: older models by the character, newer ones by the token. */
function vertexCounts(reply: Raw | undefined): Counts | undefined {
  if (!Array.isArray(reply?.predictions)) return undefined;
  const counts = (reply.predictions as Raw[]).map((one) => record(record(one.embeddings)?.statistics)?.token_count);
  return {
    input: counts.reduce<number>((sum, count) => sum + number(count), 0),
    perCharacter: number(record(reply.metadata)?.billableCharacterCount),
  };
}

function modality(lists: readonly unknown[], name: string): number {
  const items = lists.flatMap((list) => (Array.isArray(list) ? (list as Raw[]) : []));
  return items.filter((item) => item.modality === name).reduce((sum, item) => sum + number(item.tokenCount), 0);
}

function last(recorded: RecordedCase, usageOf: (payload: Raw) => unknown): Raw | undefined {
  return payloads(recorded)
    .map((payload) => record(usageOf(payload)))
    .findLast((usage) => usage !== undefined);
}

/** All JSON objects in the reply, in order. */
function payloads(recorded: RecordedCase): Raw[] {
  const text = Buffer.from(replyBytes(recorded)).toString('utf8');
  if (recorded.wire === 'bedrock-converse' && recorded.stream) return embedded(text);
  if (recorded.stream && !/^\s*[[{]/.test(text)) {
    return text.split(/\r\n|\r|\n/).flatMap((line) => (line.startsWith('data:') ? parsed(line.slice(5)) : []));
  }
  return parsed(text);
}

/** Amazon's binary frames contain one JSON object each; the last one has the usage. */
function embedded(text: string): Raw[] {
  const at = text.lastIndexOf('"usage":{');
  if (at < 0) return [];
  const depth = text.slice(at + 8);
  for (let end = depth.indexOf('}'); end >= 0; end = depth.indexOf('}', end + 1)) {
    const [usage] = parsed(depth.slice(0, end + 1));
    if (usage) return [{ usage }];
  }
  return [];
}

function parsed(text: string): Raw[] {
  try {
    const value = JSON.parse(text) as Raw | Raw[];
    return Array.isArray(value) ? value : [value];
  } catch {
    return [];
  }
}

function record(value: unknown): Raw | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : undefined;
}

const withoutNulls = (raw: Raw): Raw => Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
const number = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
