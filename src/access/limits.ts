/** Rate limits of keys and accounts: the interface of the counters, and the errors for calls that exceed a limit. */
import { GatewayError } from '../canonical/errors.ts';
import type { RateLimit, RateLimits } from '../canonical/rate-limits.ts';
import type { Pace } from '../store/rows.ts';

/** A key or an account with rate limits. */
export interface Paced extends Pace {
  readonly id: string;
  readonly of: 'key' | 'account';
}

/** A call to be admitted. */
export interface LimitRequest {
  readonly callId: string;
  /** Every key and account whose limits apply; at least one. */
  readonly paced: readonly Paced[];
  /** The maximum of tokens that the call may use. */
  readonly tokens: number;
}

/** An admitted call. */
export interface Admitted {
  /** What is left of the tightest limits. Absent if no limit per minute applies. */
  readonly limits?: RateLimits;
  /** Ends the call with the tokens that it used. Idempotent. */
  end(usedTokens: number): void;
}

/** All times are of a monotonic clock, so a change of the wall clock moves no window. */
export interface Limits {
  /** Admits a call, or throws `rate_limited`; `upstream_unavailable` if the counters cannot be reached. */
  admit(ask: LimitRequest): Admitted | Promise<Admitted>;
  /** What `admit` would find now. Nothing is counted. */
  look(ask: LimitRequest): SeenLimits | Promise<SeenLimits>;
  /** Registers this process with the others that share the limits. */
  start(): void;
  /** Closes connections and timers. */
  close(): void;
}

/** The usage of each key and account of a call, with the limits that apply to it. */
export interface SeenLimits {
  readonly seen: readonly { readonly paced: Paced; readonly used: Used }[];
  /** What `admit` would throw. */
  readonly refusal: GatewayError | undefined;
}

export const UNLIMITED: Admitted = { end() {} };

/** Usage of one key or account: requests and tokens of the last minute, and active calls. */
export interface Used {
  requests: number;
  tokens: number;
  active: number;
}

/** Which limit the call would exceed with `tokens` tokens, or `undefined`. */
export function exceeded(paced: Paced, used: Used, tokens: number): keyof Used | undefined {
  const { concurrency, requestsPerMinute, tokensPerMinute } = paced;
  if (concurrency !== undefined && used.active >= concurrency) return 'active';
  if (requestsPerMinute !== undefined && used.requests >= requestsPerMinute) return 'requests';
  if (tokensPerMinute !== undefined && used.tokens + tokens > tokensPerMinute) return 'tokens';
  return undefined;
}

/** The highest usage in the minute at which the call is still admitted. */
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

/** Throws if a limit can never admit the call. The error has no retry time. */
export function refuseImpossible({ paced, tokens }: LimitRequest): void {
  for (const { of, concurrency, requestsPerMinute, tokensPerMinute } of paced) {
    if (concurrency === 0) throw impossible(`This ${of} may run no calls: its limit of concurrent calls is 0.`);
    if (requestsPerMinute === 0) throw impossible(`This ${of} may make no requests: its limit per minute is 0.`);
    if (tokensPerMinute === undefined || tokens <= tokensPerMinute) continue;
    const figures = `The call may need ${count(tokens, 'token')}, and this ${of} may use ${tokensPerMinute} per minute`;
    throw impossible(
      `${figures}: it can never be admitted. Ask for fewer output tokens, send a shorter request, or have the limit raised.`,
    );
  }
}

const impossible = (message: string) => new GatewayError('rate_limited', message, { retryable: false });

const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;

/** What is left of a limit, as reported in response headers, or `least` if that leaves less. */
export function lessLeft(least: RateLimit | undefined, limit: number, used: number, resetSeconds: number): RateLimit {
  const remaining = Math.max(0, limit - used);
  return least !== undefined && least.remaining <= remaining ? least : { limit, remaining, resetSeconds };
}
