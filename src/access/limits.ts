/** How fast keys and accounts may call: what is asked of whoever counts, and the words for those who are too fast. */
import { GatewayError } from '../canonical/errors.ts';
import type { Allowance, RateLimits } from '../canonical/rate-limits.ts';
import type { Pace } from '../store/store.ts';

/** A key or an account whose pace is limited. */
export interface Paced extends Pace {
  readonly id: string;
  readonly of: 'key' | 'account';
}

/** A call that wants to begin. */
export interface Ask {
  readonly callId: string;
  /** All whose limits bind it; at least one. */
  readonly paced: readonly Paced[];
  /** The most tokens it may use. */
  readonly tokens: number;
}

/** A call that has been let in. */
export interface Admitted {
  /** What is left of the tightest limits; absent where nothing is counted by the minute. */
  readonly limits?: RateLimits;
  /** Ends the call with the tokens it used; a second time it does nothing. */
  end(usedTokens: number, now: number): void;
}

export interface Limits {
  /** Admits a call, or throws `rate_limited`; where the counting itself fails, `upstream_unavailable`. */
  admit(ask: Ask, now: number): Admitted | Promise<Admitted>;
  /** Lets go of connections and timers. */
  close(): void;
}

export const UNLIMITED: Admitted = { end() {} };

/** What one key or account has used: of requests and tokens what the minute holds, and the calls under way. */
export interface Used {
  requests: number;
  tokens: number;
  active: number;
}

/** Which limit forbids one more call of so many tokens; `undefined`: none. */
export function exceeded(paced: Paced, used: Used, tokens: number): keyof Used | undefined {
  const { concurrency, requestsPerMinute, tokensPerMinute } = paced;
  if (concurrency !== undefined && used.active >= concurrency) return 'active';
  if (requestsPerMinute !== undefined && used.requests >= requestsPerMinute) return 'requests';
  if (tokensPerMinute !== undefined && used.tokens + tokens > tokensPerMinute) return 'tokens';
  return undefined;
}

/** What the minute must hold at most for the call to be let in. */
export function mostBefore(paced: Paced, limit: 'requests' | 'tokens', tokens: number): number {
  return limit === 'requests' ? (paced.requestsPerMinute ?? 0) - 1 : (paced.tokensPerMinute ?? 0) - tokens;
}

export function tooFast(
  { of, concurrency = 0, requestsPerMinute = 0, tokensPerMinute = 0 }: Paced,
  limit: keyof Used,
  asked: { tokens: number; retryAfterSeconds: number; rateLimits: RateLimits },
): GatewayError {
  const { tokens, retryAfterSeconds, rateLimits } = asked;
  const sentence = {
    active: () => `This ${of} may run ${count(concurrency, 'call')} at once`,
    requests: () => `This ${of} may make ${count(requestsPerMinute, 'request')} per minute`,
    tokens: () => {
      const need = `This ${of} may use ${count(tokensPerMinute, 'token')} per minute, and the call may need ${tokens}`;
      return tokens > tokensPerMinute ? `${need}: ask for fewer output tokens` : need;
    },
  }[limit]();
  const message = `${sentence}. Please try again in ${count(retryAfterSeconds, 'second')}.`;
  return new GatewayError('rate_limited', message, { retryAfterSeconds, rateLimits });
}

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;

/** An allowance as clients are told it. */
export function allowance(limit: number, used: number, resetSeconds: number): Allowance {
  return { limit, remaining: Math.max(0, limit - used), resetSeconds };
}

/** Of two limits the one that leaves less. */
export function tightest(a: Allowance | undefined, b: Allowance): Allowance {
  return a !== undefined && a.remaining <= b.remaining ? a : b;
}
