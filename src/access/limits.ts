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
  end(usedTokens: number): void;
}

/** Time here is a monotonic clock's: a wall clock that is set wrong and right again moves no window. */
export interface Limits {
  /** Admits a call, or throws `rate_limited`; where the counting itself fails, `upstream_unavailable`. */
  admit(ask: Ask): Admitted | Promise<Admitted>;
  /** Makes this process known to those it shares the limits with. */
  start(): void;
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
    tokens: () => `This ${of} may use ${count(tokensPerMinute, 'token')} per minute, and the call may need ${tokens}`,
  }[limit]();
  const message = `${sentence}. Please try again in ${count(retryAfterSeconds, 'second')}.`;
  return new GatewayError('rate_limited', message, { retryAfterSeconds, rateLimits });
}

/** Throws where a limit forbids the call for ever: no time is told after which to try again. */
export function refuseImpossible({ paced, tokens }: Ask): void {
  for (const { of, concurrency, requestsPerMinute, tokensPerMinute } of paced) {
    if (concurrency === 0) throw impossible(`This ${of} may run no calls: its limit of calls at once is 0.`);
    if (requestsPerMinute === 0) throw impossible(`This ${of} may make no requests: its limit per minute is 0.`);
    if (tokensPerMinute === undefined || tokens <= tokensPerMinute) continue;
    const figures = `The call may need ${count(tokens, 'token')}, and this ${of} may use ${tokensPerMinute} per minute`;
    throw impossible(
      `${figures}: it can never be let in. Ask for fewer output tokens, send less, or have the limit raised.`,
    );
  }
}

const impossible = (message: string) => new GatewayError('rate_limited', message, { retryable: false });

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;

/** An allowance as clients are told it. */
export function allowance(limit: number, used: number, resetSeconds: number): Allowance {
  return { limit, remaining: Math.max(0, limit - used), resetSeconds };
}

/** Of two limits the one that leaves less. */
export function tightest(a: Allowance | undefined, b: Allowance): Allowance {
  return a !== undefined && a.remaining <= b.remaining ? a : b;
}
