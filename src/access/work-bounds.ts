/** Bounds on concurrent work in this process: calls and bytes of one account, and memory of the whole process. */
import { GatewayError } from '../canonical/errors.ts';

/** What one request uses while it is in progress. */
export interface Load {
  /** Takes more bytes. Throws `rate_limited` if the account's limit, `overloaded` if the process's limit is reached. */
  take(bytes: number): void;
  /** Counts bytes that are already in memory. Never throws; later requests have to wait. */
  count(bytes: number): void;
  /** Returns bytes. */
  give(bytes: number): void;
  /** Returns all bytes. Idempotent. */
  end(): void;
}

export interface WorkBounds {
  /** Starts a request with a body of `bytes` bytes (as far as known). Throws as `take` does. */
  enter(account: string, bytes: number): Load;
}

export interface WorkSettings {
  /** Concurrent requests of one account. */
  accountCalls: number;
  /** Bytes of the bodies of these requests. */
  accountBytes: number;
  /** The maximum of memory of the process. */
  memoryBytes: number;
  /** Bytes used now: the resident set size. */
  usedBytes?: () => number;
  /** Requests a garbage collection. */
  collect?: () => void;
  /** Monotonic time in milliseconds. */
  clock?: () => number;
}

/** A body is in memory up to four times: as bytes, as text, parsed, and as the body sent to the provider. */
const WEIGHT = 4;
/** Memory of the process without any request. */
const IDLE_BYTES = 128 * 1024 * 1024;
/** The maximum age of a reading of the resident set size; one reading takes 10 µs. */
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
      // A single request gets what it needs: there is no other request to protect.
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

/** For the operator's own requests, which are not bounded. */
export const UNCOUNTED: Load = { take() {}, count() {}, give() {}, end() {} };

/** For configurations without bounds. */
export const UNBOUNDED: WorkBounds = { enter: () => UNCOUNTED };

const AGAIN = { retryAfterSeconds: 1 };
const PLEASE = 'Please try again in 1 second.';

function tooManyCalls(most: number): GatewayError {
  return new GatewayError('rate_limited', `This account may have ${most} concurrent calls. ${PLEASE}`, AGAIN);
}

function tooManyBytes(most: number): GatewayError {
  const sentence = `The active calls of this account may hold ${most} bytes together. ${PLEASE}`;
  return new GatewayError('rate_limited', sentence, AGAIN);
}

function noMemory(): GatewayError {
  return new GatewayError(
    'overloaded',
    `The gateway has no memory left for more calls at the moment. ${PLEASE}`,
    AGAIN,
  );
}
