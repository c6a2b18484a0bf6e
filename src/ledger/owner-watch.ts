/** Which processes are silent: their mark has not changed for as long as they may take, by the clock of whoever watches. */
import type { OwnerRow } from '../store/leases.ts';

export interface OwnerWatch {
  /** The owners whose mark has been the same since before `now` less their time. */
  silent(owners: readonly OwnerRow[], now: number): Set<string>;
  /** The database could not be read: silence meanwhile says nothing. */
  interrupted(): void;
}

/** Marks are compared with themselves only: clocks of other machines, and how long the database was away, do not matter. */
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
