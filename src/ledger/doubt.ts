/** Whether a provider's report is believed. One that is not makes its call disputed: the hold is charged, and the operator decides. */
import type { Call, ChatCall } from '../canonical/call.ts';
import type { Money } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { estimatedUsage } from './estimated-usage.ts';
import { DEAREST_CALL } from './maximum-cost.ts';
import { allTokens, choices } from './quote.ts';

/** What of a call's price can be claimed too high. */
type Claimable = 'input' | 'output' | 'seconds' | 'characters' | 'searches' | 'serverToolCalls';
/** The most of each that fits what was sent and delivered; what is absent fits in any number. */
export type Most = { readonly [unit in Claimable]?: number };

/** Up to twice what was held nobody is asked: estimates err. */
const BELIEVED_HOLDS = 2n;

/** Pure. A report is disputed where it costs more than twice the hold and does not fit `most`; above ten million USD in any case. */
export function isDisputed(usage: Usage, cost: Money, held: Money, most: Most): boolean {
  if (cost > DEAREST_CALL) return true;
  if (cost <= BELIEVED_HOLDS * held) return false;
  for (const unit in most) {
    const limit = most[unit as Claimable];
    if (limit !== undefined && (usage[unit as Claimable] ?? 0) > limit) return true;
  }
  return false;
}

/** Whether `isDisputed` need be asked: cheap, for the way of every call. */
export const isBeyondDoubt = (cost: Money, held: Money): boolean =>
  cost <= BELIEVED_HOLDS * held && cost <= DEAREST_CALL;

/** Input is estimated at three bytes a token, and no token has less than one. */
const BYTES_PER_ESTIMATED_TOKEN = 3;
/** What providers put before every conversation: Grok 4's is of 680. */
const OWN_PROMPT_TOKENS = 2000;
/** Tokenizers differ by so much. */
const COUNTED_TIMES = 2;
/** Of what our count says of audio, which is packed or not, and of an image of the finest quality. */
const AUDIO_TIMES = 50;
const IMAGE_TOKENS = 8192;
/** Of a model whose window nobody has named. */
const CONTEXT_TOKENS = 1_000_000;
/** Searches and runs of code that a provider does in one call: each may read the whole context anew. */
const MOST_SERVER_CALLS = 20;
/** Members by which a call names what stands at the provider and what it makes of the input there. */
const REFERENCES = ['cachedContent', 'prompt', 'conversation', 'container', 'mcp_servers', 'web_search_options'];

/** What a call is judged by. */
export interface Judged {
  readonly call: Call;
  /** Output tokens held for each choice: what a model thinks and does not show is among them. */
  readonly ceiling: number;
  readonly contextTokens: number | undefined;
  /** Upstream calls that were each sent the whole input. */
  readonly sendings: number;
  /** Calls of tools at the provider that were held for. */
  readonly toolCalls?: number;
  /** Our own count of what was delivered. */
  readonly delivered: Usage;
}

/** The most that fits a call. */
export function mostOf(
  { call, ceiling, contextTokens, sendings, toolCalls = 0, delivered }: Judged,
  reported: Usage,
): Most {
  const { serverToolCalls = 0 } = reported;
  const sent = (BYTES_PER_ESTIMATED_TOKEN * allTokens(estimateTokens(call)) + OWN_PROMPT_TOKENS) * sendings;
  const readings = readsMore(call) || serverToolCalls > 0 ? 1 + Math.min(serverToolCalls, MOST_SERVER_CALLS) : 0;
  const input = sent + readings * (contextTokens ?? CONTEXT_TOKENS);
  if (call.kind === 'chat')
    return {
      input,
      output: ceiling * choices(call) + tokensOf(delivered),
      serverToolCalls: COUNTED_TIMES * Math.max(MOST_SERVER_CALLS, toolCalls) * choices(call),
    };
  // Of all other kinds what is held is computed from what they name.
  if (call.kind === 'transcription') return { output: 0, seconds: call.length.mostSeconds };
  if (call.kind === 'embed') return { input: sent, characters: COUNTED_TIMES * (estimatedUsage(call).characters ?? 0) };
  if (call.kind === 'rerank') return { input: sent, searches: 0 };
  return { input: sent, output: tokensOf(delivered) };
}

function tokensOf({ output, audioOutput = 0, images = 0 }: Usage): number {
  return COUNTED_TIMES * output + AUDIO_TIMES * audioOutput + IMAGE_TOKENS * images;
}

/** Its provider may read more than it was sent: what it keeps, finds or runs. */
function readsMore(call: Call): boolean {
  if (call.kind !== 'chat') return false;
  if (call.tools.some(({ type }) => type === 'web-search' || type === 'vendor')) return true;
  if (call.messages.some(({ parts }) => parts.some(namesMedia))) return true;
  return Object.values(call.extras).some((members) => REFERENCES.some((name) => members[name] !== undefined));
}

/** Media that the provider fetches or keeps: only it can measure them. */
function namesMedia(part: ChatCall['messages'][number]['parts'][number]): boolean {
  if (part.type === 'vendor') return true;
  return part.type === 'media' && (part.media.source.type === 'url' || part.media.source.type === 'reference');
}
