/** The lease under which a process takes calls: whoever could not renew it in time knows so, and takes none. */
import type { LeaseStore, OwnerRow } from '../store/leases.ts';
import type { ProcessStatus } from './ledger.ts';
import { createOwnerWatch } from './owner-watch.ts';

/** What holds are taken under is the process's name with the number of its lease. */
export interface Lease {
  /** The name that new holds carry. */
  owner(): string;
  /** Whether another process may take this one for dead by now. */
  isFenced(): boolean;
  /** Shows that this process lives; where its lease has been ended, it takes the next one. Rejects where the database does not answer. */
  renew(at: number): Promise<void>;
  isOurs(owner: string): boolean;
  /** The names of this process that may have holds. */
  names(): readonly string[];
  /** Of these owners those whose lease is over: what they hold may be settled. */
  ended(others: readonly OwnerRow[], processStatusOf: (owner: string) => ProcessStatus, at: number): Promise<string[]>;
  /** The database could not be read: silence meanwhile says nothing. */
  interrupted(): void;
}

export interface LeaseSettings {
  store: Pick<LeaseStore, 'heartbeat' | 'endLease'>;
  /** The process's name, never used before. */
  process: string;
  /** How long a lease holds without being renewed, by the clock of whoever watches. */
  leaseMs: number;
  /** A clock that nobody sets. */
  monotonic: () => number;
}

/** A process is fenced this much before others may end its lease: clocks run at different speeds, and a hold takes its time. */
const FENCED_AT = 2 / 3;
/** Leases that were ended and may still have holds. */
const MOST_FORMER = 8;

export function createLease({ store, process, leaseMs, monotonic }: LeaseSettings): Lease {
  const watch = createOwnerWatch(leaseMs);
  let epoch = 1;
  /** Until it is shown for the first time, nobody watches it. */
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
        // One that is silent may come back this moment: only a lease that nobody has renewed since is ended.
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
