/** How much work may be under way at once: calls and bytes of one account, and memory of the whole process. Counted here, in this process. */
import { GatewayError } from '../canonical/errors.ts';

/** What one request takes while it is under way. */
export interface Load {
  /** Takes more bytes. Throws `rate_limited` where the account, `overloaded` where the process has no more to give. */
  take(bytes: number): void;
  /** Takes more bytes without asking: they are there already, and what comes next has to wait. */
  count(bytes: number): void;
  /** Gives back some of what was taken. */
  give(bytes: number): void;
  /** Gives all of it back; a second time it does nothing. */
  end(): void;
}

export interface WorkBounds {
  /** A request of so many bytes, as far as is known, wants to begin. Throws as `take` does. */
  enter(account: string, bytes: number): Load;
}

export interface WorkSettings {
  /** Calls and other requests of one account under way at once. */
  accountCalls: number;
  /** Bytes of their bodies. */
  accountBytes: number;
  /** What the process may use of memory in all. */
  memoryBytes: number;
  /** What it uses now: the resident set. */
  usedBytes?: () => number;
  /** Asks for a collection of garbage. */
  collect?: () => void;
  /** Milliseconds, monotonic. */
  clock?: () => number;
}

/** A body is there as bytes, parsed, and as the body that goes on to the provider. */
const WEIGHT = 4;
/** What the program uses of memory while nothing is under way. */
const IDLE_BYTES = 128 * 1024 * 1024;
/** How old a reading of the resident set may be: one takes 10 µs. */
const READING_MS = 100;
const COLLECT_MS = 5000;

interface AccountWork {
  calls: number;
  bytes: number;
}

export function createWorkBounds(settings: WorkSettings): WorkBounds {
  const { accountCalls, accountBytes, memoryBytes } = settings;
  const {
    usedBytes = process.memoryUsage.rss,
    collect = () => Bun.gc(false),
    clock = () => performance.now(),
  } = settings;
  const most = Math.max(memoryBytes - IDLE_BYTES, memoryBytes / 4);
  const accounts = new Map<string, AccountWork>();
  let calls = 0;
  let bytes = 0;
  let used = 0;
  let usedAt = -Infinity;
  let collectedAt = -Infinity;

  function isFull(): boolean {
    const now = clock();
    if (now - usedAt >= READING_MS) {
      used = usedBytes();
      usedAt = now;
    }
    if (used <= memoryBytes) return false;
    if (now - collectedAt >= COLLECT_MS) {
      collectedAt = now;
      collect();
    }
    return true;
  }

  class Taken implements Load {
    private readonly id: string;
    private readonly work: AccountWork;
    private own = 0;
    private isOver = false;

    constructor(id: string, work: AccountWork) {
      this.id = id;
      this.work = work;
      work.calls++;
      calls++;
    }

    take(more: number): void {
      if (more <= 0 || this.isOver) return;
      // Whoever is alone gets what it asks for: there is nobody to wait for.
      if (this.work.calls > 1 && this.work.bytes + more > accountBytes) throw tooManyBytes(accountBytes);
      if (calls > 1 && (bytes + more) * WEIGHT > most) throw noMemory();
      this.count(more);
    }

    count(more: number): void {
      if (this.isOver) return;
      this.own += more;
      this.work.bytes += more;
      bytes += more;
    }

    give(some: number): void {
      this.count(-Math.min(some, this.own));
    }

    end(): void {
      if (this.isOver) return;
      this.give(this.own);
      this.isOver = true;
      calls--;
      if (--this.work.calls === 0) accounts.delete(this.id);
    }
  }

  return {
    enter(account, announced) {
      let work = accounts.get(account);
      if (work && work.calls >= accountCalls) throw tooManyCalls(accountCalls);
      if (calls > 0 && isFull()) throw noMemory();
      if (!work) {
        work = { calls: 0, bytes: 0 };
        accounts.set(account, work);
      }
      const load = new Taken(account, work);
      try {
        load.take(announced);
      } catch (thrown) {
        load.end();
        throw thrown;
      }
      return load;
    },
  };
}

/** Of requests that nobody's bounds concern: the operator's. */
export const UNCOUNTED: Load = { take() {}, count() {}, give() {}, end() {} };

/** For those who set no bounds. */
export const UNBOUNDED: WorkBounds = { enter: () => UNCOUNTED };

const AGAIN = { retryAfterSeconds: 1 };
const PLEASE = 'Please try again in 1 second.';

function tooManyCalls(most: number): GatewayError {
  return new GatewayError('rate_limited', `This account may have ${most} calls under way at once. ${PLEASE}`, AGAIN);
}

function tooManyBytes(most: number): GatewayError {
  const sentence = `The calls of this account that are under way may hold ${most} bytes together. ${PLEASE}`;
  return new GatewayError('rate_limited', sentence, AGAIN);
}

function noMemory(): GatewayError {
  return new GatewayError(
    'overloaded',
    `The gateway has no memory left for more calls at the moment. ${PLEASE}`,
    AGAIN,
  );
}
