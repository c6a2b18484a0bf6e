/** Limits counted in this process. */
import type { GatewayError } from '../canonical/errors.ts';
import type { RateLimits } from '../canonical/rate-limits.ts';
import {
  type Admitted,
  exceeded,
  type LimitRequest,
  type Limits,
  lessLeft,
  mostBefore,
  type Paced,
  type SeenLimits,
  tooFast,
  type Used,
} from './limits.ts';
import { createWindow, type Window } from './window.ts';

export interface LocalLimits extends Limits {
  /** `portionOf`: the part of each limit that this process may use. */
  admit(ask: LimitRequest, portionOf?: (paced: Paced) => Paced): Admitted;
  look(ask: LimitRequest, portionOf?: (paced: Paced) => Paced): SeenLimits;
  /** Counts a call that was admitted elsewhere. Returns the function that ends it. */
  note(ask: LimitRequest): Admitted['end'];
  used(id: string): Used;
  /** Every key and account with usage in the last minute. */
  all(): Iterable<[id: string, used: Used]>;
}

/** The usage of one key or account. */
interface LimitWindows {
  requests: Window;
  tokens: Window;
  active: number;
}

/** Above this number, idle keys and accounts are removed; each takes about 1.5 KB. */
const COUNTERS_KEPT = 10_000;

/** `clock`: monotonic time in milliseconds. */
export function createLocalLimits(clock: () => number = () => performance.now()): LocalLimits {
  const counters = new Map<string, LimitWindows>();

  function counterOf(id: string, now: number): LimitWindows {
    let usageCounter = counters.get(id);
    if (usageCounter) return usageCounter;
    if (counters.size >= COUNTERS_KEPT) forgetIdle(now);
    usageCounter = newCounter();
    counters.set(id, usageCounter);
    return usageCounter;
  }

  function forgetIdle(now: number): void {
    for (const [id, { requests, tokens, active }] of counters) {
      if (active === 0 && requests.sum(now) <= 0 && tokens.sum(now) <= 0) counters.delete(id);
    }
  }

  function count({ paced, tokens }: LimitRequest, now: number): Admitted['end'] {
    const counted: { usageCounter: LimitWindows; second: number }[] = [];
    for (const { id } of paced) {
      const usageCounter = counterOf(id, now);
      usedBy(usageCounter, now);
      usageCounter.active++;
      usageCounter.requests.add(1);
      counted.push({ usageCounter, second: usageCounter.tokens.add(tokens) });
    }
    let ended = false;
    return (usedTokens) => {
      if (ended) return;
      ended = true;
      const endedAt = clock();
      for (const { usageCounter, second } of counted) {
        usageCounter.active--;
        // Advances the window first, so that no second which has left it is corrected.
        usageCounter.tokens.sum(endedAt);
        usageCounter.tokens.correct(second, usedTokens - tokens);
      }
    };
  }

  return {
    note: (ask) => count(ask, clock()),
    admit(ask, portionOf) {
      const now = clock();
      for (const paced of ask.paced) {
        const allowed = portionOf ? portionOf(paced) : paced;
        const refusal = refusalOf(paced, allowed, counterOf(paced.id, now), ask.tokens, now);
        if (refusal) throw refusal;
      }
      const end = count(ask, now);
      const limits: RateLimits = {};
      for (const paced of ask.paced) {
        tell(limits, portionOf ? portionOf(paced) : paced, counterOf(paced.id, now), now);
      }
      return { limits, end };
    },
    look({ paced: all, tokens }, portionOf) {
      const now = clock();
      let refusal: GatewayError | undefined;
      const seen = all.map((paced) => {
        const allowed = portionOf ? portionOf(paced) : paced;
        const usageCounter = counters.get(paced.id) ?? newCounter();
        refusal ??= refusalOf(paced, allowed, usageCounter, tokens, now);
        return { paced: allowed, used: usedBy(usageCounter, now) };
      });
      return { seen, refusal };
    },
    used(id) {
      const now = clock();
      return usedBy(counterOf(id, now), now);
    },
    *all() {
      const now = clock();
      for (const [id, usageCounter] of counters) {
        const used = usedBy(usageCounter, now);
        if (used.requests > 0 || used.tokens > 0 || used.active > 0) yield [id, used];
      }
    },
    start() {},
    close() {},
  };
}

const newCounter = (): LimitWindows => ({ requests: createWindow(), tokens: createWindow(), active: 0 });

function usedBy({ requests, tokens, active }: LimitWindows, now: number): Used {
  return { requests: requests.sum(now), tokens: tokens.sum(now), active };
}

function refusalOf(
  paced: Paced,
  allowed: Paced,
  usageCounter: LimitWindows,
  tokens: number,
  now: number,
): GatewayError | undefined {
  const limit = exceeded(allowed, usedBy(usageCounter, now), tokens);
  if (limit === undefined) return undefined;
  const rateLimits: RateLimits = {};
  tell(rateLimits, allowed, usageCounter, now);
  const retryAfterSeconds =
    limit === 'active' ? 1 : usageCounter[limit].secondsUntil(mostBefore(allowed, limit, tokens));
  return tooFast(paced, limit, { tokens, retryAfterSeconds, rateLimits });
}

/** Adds the allowance of one key or account if it is smaller than the one reported so far. */
function tell(limits: RateLimits, paced: Paced, usageCounter: LimitWindows, now: number): void {
  const used = usedBy(usageCounter, now);
  const { requestsPerMinute, tokensPerMinute } = paced;
  if (requestsPerMinute !== undefined) {
    const resetSeconds = usageCounter.requests.secondsUntilEmpty();
    limits.requests = lessLeft(limits.requests, requestsPerMinute, used.requests, resetSeconds);
  }
  if (tokensPerMinute !== undefined) {
    const resetSeconds = usageCounter.tokens.secondsUntilEmpty();
    limits.tokens = lessLeft(limits.tokens, tokensPerMinute, used.tokens, resetSeconds);
  }
}
