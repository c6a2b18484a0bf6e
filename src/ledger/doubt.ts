/**
 * Decides whether a provider's usage report is plausible. If it is not, the call is disputed: the hold is charged, and the operator
 * decides.
 */
import type { Call, ChatCall } from '../canonical/call.ts';
import type { Money } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';
import { MAXIMUM_CALL_COST } from './pricing/charge.ts';
import { allTokens, choices } from './pricing/quote.ts';
import { countedKind, estimateTokens } from './tokens/estimate-tokens.ts';
import { estimatedUsage } from './tokens/estimated-usage.ts';

/** The units that a provider can over-report. */
type Claimable = 'input' | 'output' | 'seconds' | 'characters' | 'searches' | 'serverToolCalls';
/** The maximum of each unit that fits what was sent and delivered. Absent: any number. */
export type Most = { readonly [unit in Claimable]?: number };

/** Reports up to this multiple of the hold are accepted: estimates have errors. */
const BELIEVED_HOLDS = 2n;

/** A pure function. A report is disputed if it costs more than twice the hold and exceeds `most`, and always above ten million USD. */
export function isDisputed(usage: Usage, cost: Money, held: Money, most: Most): boolean {
  if (cost > MAXIMUM_CALL_COST) return true;
  if (cost <= BELIEVED_HOLDS * held) return false;
  for (const unit in most) {
    const limit = most[unit as Claimable];
    if (limit !== undefined && (usage[unit as Claimable] ?? 0) > limit) return true;
  }
  return false;
}

/** A cheap test that makes `isDisputed` unnecessary for most calls. */
export const isBeyondDoubt = (cost: Money, held: Money): boolean =>
  cost <= BELIEVED_HOLDS * held && cost <= MAXIMUM_CALL_COST;

/** Input is estimated at three bytes per token, and a token has at least one byte. */
const BYTES_PER_ESTIMATED_TOKEN = 3;
/** Providers add prompts of their own to every conversation: that of Grok 4 has 680 tokens. */
const OWN_PROMPT_TOKENS = 2000;
/** Tokenizers differ by up to this factor. */
const COUNTED_TIMES = 2;
/** Relative to the gateway's own estimate: audio may be compressed or not, and an image may have the highest quality. */
const AUDIO_TIMES = 50;
const IMAGE_TOKENS = 8192;
/** An image has up to 48,169 tokens at GPT-4o mini, whose rate per token is as much lower, and up to 16,384 at Qwen's models. */
const GIVEN_IMAGE_TOKENS = 50_000;
/** The hold is for speech at 16 kbit/s; the lowest rates of its codecs are a quarter of that. Heard and spoken tokens are per second. */
const SPEECH = { times: 4, heard: 40, spoken: 8 };
/** For a model without a known context window. */
const CONTEXT_TOKENS = 1_000_000;
/** Searches and code runs that a provider may do in one call; each may read the whole context again. */
const MOST_SERVER_CALLS = 20;
/** Members with which a provider searches: of OpenAI, xAI, OpenRouter and DashScope. */
const SEARCHES = ['web_search_options', 'search_parameters', 'plugins', 'enable_search'];
/** Members that refer to data stored at the provider, which becomes part of the input. */
const REFERENCES = ['cachedContent', 'prompt', 'conversation', 'container', 'mcp_servers', ...SEARCHES];

/** What a report is compared with. */
export interface Judged {
  readonly call: Call;
  /** Output tokens held for each choice, hidden reasoning included. */
  readonly ceiling: number;
  readonly contextTokens: number | undefined;
  /** Upstream calls that each contained the whole input. */
  readonly sendings: number;
  /** Provider tool calls that were held for. */
  readonly toolCalls?: number;
  /** The gateway's own count of what was delivered. */
  readonly delivered: Usage;
}

/** The maximum usage that fits a call. */
export function mostOf(
  { call, ceiling, contextTokens, sendings, toolCalls = 0, delivered }: Judged,
  reported: Usage,
): Most {
  const { serverToolCalls = 0 } = reported;
  const sent = (BYTES_PER_ESTIMATED_TOKEN * allTokens(estimateTokens(call)) + OWN_PROMPT_TOKENS) * sendings;
  const readings = readsMore(call) || serverToolCalls > 0 ? 1 + Math.min(serverToolCalls, MOST_SERVER_CALLS) : 0;
  const context = contextTokens ?? CONTEXT_TOKENS;
  const input = sent + readings * context;
  if (call.kind === 'chat')
    return {
      input: input + Math.min(context, givenMediaTokens(call, context)) * sendings,
      output: ceiling * choices(call) + tokensOf(delivered),
      serverToolCalls: COUNTED_TIMES * Math.max(MOST_SERVER_CALLS, toolCalls) * choices(call),
    };
  // For all other kinds the hold is computed from the request itself.
  if (call.kind === 'transcription') {
    const seconds = SPEECH.times * call.length.mostSeconds;
    return { input: sent + SPEECH.heard * seconds, output: SPEECH.spoken * seconds, seconds };
  }
  if (call.kind === 'embed') return { input: sent, characters: COUNTED_TIMES * (estimatedUsage(call).characters ?? 0) };
  if (call.kind === 'rerank') return { input: sent, searches: 0 };
  const images = call.kind === 'image' ? call.images.length : 0;
  return { input: sent + images * GIVEN_IMAGE_TOKENS * sendings, output: tokensOf(delivered) };
}

function tokensOf({ output, audioOutput = 0, images = 0 }: Usage): number {
  return COUNTED_TIMES * output + AUDIO_TIMES * audioOutput + IMAGE_TOKENS * images;
}

/** Whether the provider may read more than it was sent: stored data, search results, tool results. */
export function readsMore(call: Call): boolean {
  if (call.kind !== 'chat') return false;
  if (call.tools.some(({ type }) => type === 'web-search' || type === 'native')) return true;
  if (call.messages.some(({ parts }) => parts.some(namesMedia))) return true;
  return Object.values(call.extras).some((members) => REFERENCES.some((name) => members[name] !== undefined));
}

/** The most tokens of the media in the request itself: how many pages a PDF has, or how long a recording is, does not follow from its bytes. */
function givenMediaTokens({ messages }: ChatCall, context: number): number {
  let most = 0;
  const see = (parts: ChatCall['messages'][number]['parts']) => {
    for (const part of parts) {
      if (part.type === 'tool-result') see(part.parts);
      // What the provider fetches is counted by `readsMore`.
      if (part.type !== 'media' || part.media.source.type !== 'inline') continue;
      most += countedKind(part.media) === 'image' ? GIVEN_IMAGE_TOKENS : context;
    }
  };
  for (const { parts } of messages) see(parts);
  return most;
}

/** Media that the provider fetches or stores: only it knows their size. */
function namesMedia(part: ChatCall['messages'][number]['parts'][number]): boolean {
  if (part.type === 'native') return true;
  return part.type === 'media' && (part.media.source.type === 'url' || part.media.source.type === 'reference');
}
