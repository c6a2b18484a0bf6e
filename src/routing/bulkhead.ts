/** Limits the concurrent calls and the tokens per minute of each credential of a provider, and queues calls that wait for a place. */
import { MINUTE_MS } from '../canonical/time.ts';

/** What an operator allows for each credential; what is absent is not limited. */
export interface BulkheadLimits {
  concurrency?: number | undefined;
  tokensPerMinute?: number | undefined;
}

/** What a call needs of a place. A provider without credentials has one, named ''. */
export interface PlaceRequest {
  account: string;
  tokens: number;
}

/** A call that waits for a place at one of these credentials. */
export interface Waiter extends PlaceRequest {
  credentials: readonly string[];
  /** Called once: with the credential when the call may continue; with `undefined` when its time is over. */
  settle(credential: string | undefined): void;
  /** It is the next one now: it retries when enough tokens are available. */
  wake?(): void;
}

/** Tokens that flow in evenly, up to a minute's worth. */
class TokenBucket {
  private level: number;
  private at: number;
  private readonly perMinute: number;

  constructor(perMinute: number, now: number) {
    this.perMinute = this.level = perMinute;
    this.at = now;
  }

  /** Milliseconds until a call of so many tokens may go; 0: now. One that is larger than a minute's worth goes when it is full. */
  waitMs(tokens: number, now: number): number {
    const passed = Math.max(0, now - this.at);
    this.level = Math.min(this.perMinute, this.level + (passed * this.perMinute) / MINUTE_MS);
    this.at = now;
    const missing = Math.min(tokens, this.perMinute) - this.level;
    return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / this.perMinute);
  }

  take(tokens: number): void {
    this.level -= tokens;
  }
}

function bucketOf({ tokensPerMinute }: BulkheadLimits, now: number): TokenBucket | undefined {
  return tokensPerMinute === undefined ? undefined : new TokenBucket(tokensPerMinute, now);
}

/** The active calls with one credential. */
interface Pool {
  calls: number;
  bucket: TokenBucket | undefined;
}

/** The places of one provider. Times are parameters: the caller wakes the calls that wait. */
export class Bulkhead {
  private limits: BulkheadLimits;
  private readonly pools = new Map<string, Pool>();
  /** Calls inside by account, for fairness. */
  private readonly insideOf = new Map<string, number>();
  private readonly waiting: Waiter[] = [];

  constructor(limits: BulkheadLimits) {
    this.limits = limits;
  }

  /** The operator has set other limits: calls that wait may fit them. */
  limit(limits: BulkheadLimits, now: number): void {
    if (limits.tokensPerMinute !== this.limits.tokensPerMinute)
      for (const pool of this.pools.values()) pool.bucket = bucketOf(limits, 0);
    this.limits = limits;
    this.admitWaiting(now);
  }

  get calls(): number {
    let calls = 0;
    for (const pool of this.pools.values()) calls += pool.calls;
    return calls;
  }

  get queued(): number {
    return this.waiting.length;
  }

  /** Nobody waits, and there is a place. */
  hasPlace(credential: string, tokens: number, now: number): boolean {
    return this.waiting.length === 0 && this.waitMs(credential, tokens, now) === 0;
  }

  /** Takes a place at once. Nobody overtakes those who wait. */
  enter(credential: string, request: PlaceRequest, now: number): boolean {
    if (!this.hasPlace(credential, request.tokens, now)) return false;
    this.admit(credential, request, now);
    return true;
  }

  queue(waiter: Waiter, now: number): void {
    this.waiting.push(waiter);
    this.admitWaiting(now);
  }

  giveUp(waiter: Waiter): void {
    const at = this.waiting.indexOf(waiter);
    if (at < 0) return;
    this.waiting.splice(at, 1);
    waiter.settle(undefined);
    this.next()?.wake?.();
  }

  /** A call has ended. `used`: the tokens it took in truth; `undefined`: as it entered with. */
  leave(credential: string, { account, tokens }: PlaceRequest, used: number | undefined, now: number): void {
    const pool = this.poolOf(credential, now);
    // A provider whose limits were taken away and set again has forgotten the calls of before.
    pool.calls = Math.max(0, pool.calls - 1);
    const left = (this.insideOf.get(account) ?? 1) - 1;
    if (left <= 0) this.insideOf.delete(account);
    else this.insideOf.set(account, left);
    if (used !== undefined) pool.bucket?.take(used - tokens);
    this.admitWaiting(now);
  }

  /** Lets in those who wait, as far as there are places: of their accounts the one with the fewest calls inside, of its calls the first. */
  admitWaiting(now: number): void {
    while (this.waiting.length > 0) {
      const next = this.next();
      const credential = next?.credentials.find((one) => this.waitMs(one, next.tokens, now) === 0);
      if (!next || credential === undefined) {
        next?.wake?.();
        return;
      }
      this.waiting.splice(this.waiting.indexOf(next), 1);
      this.admit(credential, next, now);
      next.settle(credential);
    }
  }

  /** Milliseconds until this call, if it is the next one, has enough tokens; infinite where it waits for another call. */
  tokensMs(waiter: Waiter, now: number): number {
    const next = this.next();
    if (next !== waiter) return Number.POSITIVE_INFINITY;
    return Math.min(...next.credentials.map((credential) => this.waitMs(credential, next.tokens, now)));
  }

  private next(): Waiter | undefined {
    let next: Waiter | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const waiter of this.waiting) {
      const inside = this.insideOf.get(waiter.account) ?? 0;
      if (inside >= fewest) continue;
      fewest = inside;
      next = waiter;
    }
    return next;
  }

  private waitMs(credential: string, tokens: number, now: number): number {
    const pool = this.poolOf(credential, now);
    if (pool.calls >= (this.limits.concurrency ?? Number.POSITIVE_INFINITY)) return Number.POSITIVE_INFINITY;
    return pool.bucket?.waitMs(tokens, now) ?? 0;
  }

  private admit(credential: string, { account, tokens }: PlaceRequest, now: number): void {
    const pool = this.poolOf(credential, now);
    pool.calls++;
    pool.bucket?.take(tokens);
    this.insideOf.set(account, (this.insideOf.get(account) ?? 0) + 1);
  }

  private poolOf(credential: string, now: number): Pool {
    let pool = this.pools.get(credential);
    if (!pool) {
      pool = { calls: 0, bucket: bucketOf(this.limits, now) };
      this.pools.set(credential, pool);
    }
    return pool;
  }
}
