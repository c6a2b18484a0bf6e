/** Detects silent processes: their lease has not changed for too long, by the clock of the watching process. */
import type { OwnerRow } from '../store/leases.ts';

/** Times are milliseconds of a monotonic clock. */
export interface OwnerWatch {
  /** Owners whose last renewal has not changed during the life of a lease before `now`. */
  silent(owners: readonly OwnerRow[], now: number): Set<string>;
  /** Call when the database could not be read: missing renewals during that time mean nothing. */
  interrupted(): void;
}

/**
 * Renewal times are only compared with earlier ones of the same owner, so clocks of other machines and outages of the database do not
 * matter.
 */
export function createOwnerWatch(lifeMs: number): OwnerWatch {
  let seen = new Map<string, { mark: number | undefined; since: number }>();
  return {
    silent(owners, now) {
      const before = seen;
      seen = new Map();
      const silent = new Set<string>();
      for (const { owner, at: mark } of owners) {
        const last = before.get(owner);
        const since = last && last.mark === mark ? last.since : now;
        seen.set(owner, { mark, since });
        if (now - since > lifeMs) silent.add(owner);
      }
      return silent;
    },
    interrupted: () => seen.clear(),
  };
}
