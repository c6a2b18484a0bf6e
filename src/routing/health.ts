/** Who failed lately: a target rests after failures in a row, and for as long as a 429 asks for. */
import type { GatewayError } from '../canonical/errors.ts';

/** One error never takes a target out. */
const FAILURES_UNTIL_REST = 5;
const FIRST_REST_MS = 2_000;
const LONGEST_REST_MS = 60_000;

/** How a target did: a success ends the rest its failures began; a rest the provider asked for lasts its time. */
export type Observation = { ok: true } | { ok: false; error: GatewayError };

interface Troubles {
  /** Retryable failures in a row, not counting those of calls that were under way when a rest began. */
  failures: number;
  restsUntil: number;
  /** End of the rest the provider asked for with a 429. */
  limitedUntil: number;
}

export interface Rest {
  until: number;
  /** The provider asked for it. */
  limited: boolean;
}

export interface Health {
  observe(target: string, seen: Observation, now: number): void;
  /** The rest a target is in; `undefined` where it may be called. */
  rest(target: string, now: number): Rest | undefined;
  /** Forgets targets that are no longer available. */
  keepOnly(targets: ReadonlySet<string>): void;
}

export function createHealth(): Health {
  /** Only the targets in reportError, so that the map is empty while all is well. */
  const troubled = new Map<string, Troubles>();

  return {
    observe(target, seen, now) {
      const before = troubled.get(target);
      if (seen.ok) {
        if (!before) return;
        if (before.limitedUntil > now) troubled.set(target, { ...untroubled(), limitedUntil: before.limitedUntil });
        else troubled.delete(target);
        return;
      }
      // A provider that refuses the request itself is well, and so is one that cannot do what another can.
      if (!seen.error.retryable || seen.error.code === 'invalid_request') return;
      const troubles = before ?? untroubled();
      if (!before) troubled.set(target, troubles);
      worsen(troubles, seen.error, now);
    },

    rest(target, now) {
      if (troubled.size === 0) return undefined;
      const troubles = troubled.get(target);
      if (!troubles) return undefined;
      // No cooldown is that long: the clock was set back.
      if (troubles.restsUntil - now > LONGEST_REST_MS) troubles.restsUntil = now;
      if (troubles.limitedUntil - now > LONGEST_REST_MS) troubles.limitedUntil = now;
      const until = Math.max(troubles.restsUntil, troubles.limitedUntil);
      return until > now ? { until, limited: troubles.limitedUntil > now } : undefined;
    },

    keepOnly(targets) {
      for (const target of troubled.keys()) if (!targets.has(target)) troubled.delete(target);
    },
  };
}

const untroubled = (): Troubles => ({ failures: 0, restsUntil: 0, limitedUntil: 0 });

function worsen(troubles: Troubles, error: GatewayError, now: number): void {
  const asked = error.code === 'rate_limited' ? (error.retryAfterSeconds ?? 0) : 0;
  if (asked > 0) {
    troubles.limitedUntil = Math.max(troubles.limitedUntil, now + Math.min(asked * 1000, LONGEST_REST_MS));
    return;
  }
  // Calls that began before the rest say nothing new: a hundred at once must not make one outage a long rest.
  if (troubles.restsUntil > now) return;
  troubles.failures++;
  const beyond = troubles.failures - FAILURES_UNTIL_REST;
  if (beyond >= 0) troubles.restsUntil = now + Math.min(FIRST_REST_MS * 2 ** beyond, LONGEST_REST_MS);
}
