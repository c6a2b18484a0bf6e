/** What a provider says is left of its rate limits, in the headers of its responses. */
import { waitMs } from '../canonical/retry-after.ts';

/** What is left until the reset. What a provider does not say is infinite. */
export interface RemainingLimits {
  requests: number;
  tokens: number;
  resetMs: number;
}

/** A response: the value of its header of this lower-case name. */
export interface HasHeaders {
  header(name: string): string | undefined;
}

/** OpenAI's names, which most providers use, and Anthropic's. */
const NAMES = [
  {
    prefix: 'x-ratelimit-',
    remaining: (what: string) => `remaining-${what}`,
    reset: (what: string) => `reset-${what}`,
  },
  {
    prefix: 'anthropic-ratelimit-',
    remaining: (what: string) => `${what}-remaining`,
    reset: (what: string) => `${what}-reset`,
  },
] as const;

const SETS = NAMES.map(({ prefix, remaining, reset }) => ({
  requests: prefix + remaining('requests'),
  tokens: prefix + remaining('tokens'),
  requestsReset: prefix + reset('requests'),
  tokensReset: prefix + reset('tokens'),
}));

/** `undefined`: the response says nothing of it. */
export function remainingLimits(response: HasHeaders): RemainingLimits | undefined {
  const header = (name: string) => response.header(name);
  for (const names of SETS) {
    const requests = countOf(header(names.requests));
    const tokens = countOf(header(names.tokens));
    if (requests === undefined && tokens === undefined) continue;
    const clock = header('date');
    const ofRequests = requests === undefined ? undefined : waitMs(header(names.requestsReset), clock);
    const ofTokens = tokens === undefined ? undefined : waitMs(header(names.tokensReset), clock);
    const resetMs = Math.max(ofRequests ?? 0, ofTokens ?? 0) || (waitMs(header('x-ratelimit-reset'), clock) ?? 0);
    if (resetMs <= 0) return undefined;
    return { requests: requests ?? Number.POSITIVE_INFINITY, tokens: tokens ?? Number.POSITIVE_INFINITY, resetMs };
  }
  return undefined;
}

function countOf(value: string | null | undefined): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const count = Number(value);
  return count >= 0 ? count : undefined;
}
