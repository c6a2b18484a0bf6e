/** When a call is sent to the same target again, and how long it waits before: pure rules, and the budget of each provider. */

import type { GatewayError } from '../canonical/errors.ts';
import { MINUTE_MS } from '../canonical/time.ts';

/** The default of a model: additional attempts at the last target. */
export const DEFAULT_RETRIES = 2;
/** Full jitter: a random time up to this limit, which doubles. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8000;
/** If a rate limit ends later, the caller has to wait for it. */
const SHORT_WAIT_MS = 5000;
/** Calls that got the same `retry-after` do not return in the same moment. */
const SPREAD_MS = 250;

/** The status of a response for a temporary failure of the provider; `undefined`: there was no response. */
function statusOf({ cause }: GatewayError): number | undefined {
  const status = (cause as { status?: unknown } | undefined)?.status;
  return typeof status === 'number' ? status : undefined;
}

/**
 * Whether the same target may be called again: after a connection that was lost before any byte of a response, a rate limit that ends soon,
 * 500, 502, 503, 529. Not after a reply that broke off (it may have been billed), a timeout, or a refusal of the request.
 */
export function isRepeatable(error: GatewayError): boolean {
  if (!error.retryable || error.credentialRefused || error.partlyAnswered) return false;
  switch (error.code) {
    case 'rate_limited':
      return (error.retryAfterSeconds ?? 0) * 1000 <= SHORT_WAIT_MS;
    case 'upstream_failed':
    case 'upstream_unavailable':
      return error.unanswered || (statusOf(error) ?? 0) >= 500;
    default:
      return false;
  }
}

/** Milliseconds to wait before try number `retry`, from 1. `random` gives [0, 1). */
export function retryDelayMs(error: GatewayError, retry: number, random: () => number): number {
  const requestedMs = (error.retryAfterSeconds ?? 0) * 1000;
  if (requestedMs > 0) return Math.min(requestedMs, SHORT_WAIT_MS) + random() * SPREAD_MS;
  return random() * Math.min(FIRST_DELAY_MS * 2 ** (retry - 1), LONGEST_DELAY_MS);
}

/** Of the calls of a minute. */
const SHARE = 0.1;
/** With little traffic more retries do no harm. */
const FEWEST_RETRIES = 10;

/** At most a tenth of a provider's calls of a minute are retries: a failing provider does not get every call twice. */
export class RetryBudget {
  private since = 0;
  private calls = 0;
  private retries = 0;
  /** Of the previous minute, for the start of a minute. */
  private earlierCalls = 0;

  called(now: number): void {
    this.turn(now);
    this.calls++;
  }

  /** Takes one retry; `false`: the budget of this minute is used up. */
  take(now: number): boolean {
    this.turn(now);
    const most = Math.max(FEWEST_RETRIES, Math.max(this.calls, this.earlierCalls) * SHARE);
    if (this.retries >= most) return false;
    this.retries++;
    return true;
  }

  private turn(now: number): void {
    const passed = now - this.since;
    if (passed >= 0 && passed < MINUTE_MS) return;
    this.earlierCalls = passed >= 0 && passed < 2 * MINUTE_MS ? this.calls : 0;
    this.since = now;
    this.calls = this.retries = 0;
  }
}
