/** The lease under which a process takes calls. If it could not be renewed in time, the process takes no calls. */
import type { LeaseStore, OwnerRow } from '../store/leases.ts';
import type { ProcessStatus } from './ledger.ts';
import { createOwnerWatch } from './owner-watch.ts';

/** Holds belong to the process's name plus the number of its lease. */
export interface Lease {
  /** The owner of new holds. */
  owner(): string;
  /** Whether another process may assume by now that this one is dead. */
  isFenced(): boolean;
  /** Renews the lease. If another process has ended it, takes a new one. Rejects if the database does not answer. */
  renew(at: number): Promise<void>;
  isOurs(owner: string): boolean;
  /** All owner names of this process that may have holds. */
  names(): readonly string[];
  /** Those of these owners whose leases are over: their holds may be settled. */
  ended(others: readonly OwnerRow[], processStatusOf: (owner: string) => ProcessStatus, at: number): Promise<string[]>;
  /** Call when the database could not be read: missing renewals during that time mean nothing. */
  interrupted(): void;
}

/** `at` in the methods of a lease is milliseconds since 1970; whether a lease is over is decided by `monotonic` alone. */
export interface LeaseSettings {
  store: Pick<LeaseStore, 'heartbeat' | 'endLease'>;
  /** The process's name, never used before. */
  process: string;
  /** How long a lease is valid without renewal, by the clock of the process that watches it. */
  leaseMs: number;
  /** A monotonic clock. */
  monotonic: () => number;
}

/** A process stops taking calls before others may end its lease: clocks differ in speed, and a hold takes time. */
const FENCED_AT = 2 / 3;
/** Ended leases that may still have holds. */
const MOST_FORMER = 8;

/** The first lease of a process. It is valid until its first renewal, because no other process watches it before. */
export function createLease({ store, process, leaseMs, monotonic }: LeaseSettings): Lease {
  const watch = createOwnerWatch(leaseMs);
  let epoch = 1;
  /** Before the first renewal no other process watches the lease. */
  let holdsUntil = Number.POSITIVE_INFINITY;
  const former: string[] = [];
  const owner = () => `${process}#${epoch}`;

  async function renew(at: number): Promise<void> {
    const asked = monotonic();
    const name = owner();
    if (await store.heartbeat(name, at)) {
      if (name === owner()) holdsUntil = Math.max(asked + leaseMs * FENCED_AT, finite(holdsUntil));
      return;
    }
    if (name === owner()) {
      former.push(name);
      if (former.length > MOST_FORMER) former.shift();
      epoch++;
      holdsUntil = asked;
    }
    await renew(at);
  }

  return {
    owner,
    renew,
    isFenced: () => monotonic() > holdsUntil,
    isOurs: (name) => name === process || name.startsWith(`${process}#`),
    names: () => [...former, owner()],
    interrupted: watch.interrupted,
    async ended(others, processStatusOf, at) {
      const silent = watch.silent(others, monotonic());
      const ended: string[] = [];
      for (const { owner: other, at: mark, isEnded } of others) {
        const processStatus = isEnded ? 'gone' : processStatusOf(other);
        // A silent process may renew at this moment: only a lease without renewal since then is ended.
        const isOver =
          processStatus === 'gone' ||
          (processStatus === 'unknown' && silent.has(other) && (await store.endLease(other, mark, at)));
        if (isOver) ended.push(other);
      }
      return ended;
    },
  };
}

const finite = (moment: number) => (Number.isFinite(moment) ? moment : 0);
