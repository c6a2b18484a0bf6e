/** The remaining rate limits that a provider reports in its response headers. */
import { waitMs } from '../canonical/retry-after.ts';

/** What is left of one limit. */
export interface Remaining {
  left: number;
  /** Milliseconds until the whole limit is available again. */
  resetMs: number;
  /** The limit itself, where the provider refills it steadily. Without it nothing comes back before the reset. */
  limit?: number;
}

/** What a provider does not say is absent. */
export interface RemainingLimits {
  requests?: Remaining;
  tokens?: Remaining;
}

/** A response: the value of its header of this lower-case name. */
export interface HasHeaders {
  header(name: string): string | undefined;
}

/** The names of the headers for one limit. */
interface Names {
  left: string;
  reset: string;
  limit: string;
}

/** Most providers use OpenAI's names. */
const openai = (what: string): Names => ({
  left: `x-ratelimit-remaining-${what}`,
  reset: `x-ratelimit-reset-${what}`,
  limit: `x-ratelimit-limit-${what}`,
});
const anthropic = (what: string): Names => ({
  left: `anthropic-ratelimit-${what}-remaining`,
  reset: `anthropic-ratelimit-${what}-reset`,
  limit: `anthropic-ratelimit-${what}-limit`,
});

const SETS = [openai, anthropic].map((names) => ({ requests: names('requests'), tokens: names('tokens') }));

/**
 * What the headers of a response say is left; `undefined`: nothing that can be obeyed. Each limit has its own reset. OpenAI and Anthropic
 * document limits that refill steadily, whose reset is the time at which they are full; both also send the limit.
 *
 * @example
 * // x-ratelimit-remaining-requests: 0, x-ratelimit-reset-requests: 1s, x-ratelimit-limit-requests: 60
 * remainingLimits(response) // { requests: { left: 0, resetMs: 1000, limit: 60 } }
 */
export function remainingLimits(response: HasHeaders): RemainingLimits | undefined {
  for (const names of SETS) {
    const requests = remaining(response, names.requests);
    const tokens = remaining(response, names.tokens);
    if (requests || tokens) return { ...(requests && { requests }), ...(tokens && { tokens }) };
  }
  return undefined;
}

function remaining(response: HasHeaders, names: Names): Remaining | undefined {
  const left = countOf(response.header(names.left));
  if (left === undefined) return undefined;
  const clock = response.header('date');
  const ownReset = waitMs(response.header(names.reset), clock);
  const resetMs = ownReset || waitMs(response.header('x-ratelimit-reset'), clock) || 0;
  if (resetMs <= 0) return undefined;
  const limit = ownReset ? countOf(response.header(names.limit)) : undefined;
  return { left, resetMs, ...(limit !== undefined && limit > left && { limit }) };
}

function countOf(value: string | null | undefined): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const count = Number(value);
  return count >= 0 ? count : undefined;
}
