/** What the calls of a time would have cost at other prices. Only reads. */

import type { Money } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import { DAY_MS } from '../canonical/time.ts';
import type { Store } from '../store/store.ts';
import { charge, MAXIMUM_CALL_COST } from './pricing/charge.ts';

/** Of one model, or of all. */
export interface Repriced {
  calls: number;
  /** What the calls were charged. */
  before: Money;
  /** What they would have been charged. */
  after: Money;
}

/** The sum of all models, and each model by name. */
export interface RepricedBill extends Repriced {
  /** Calls of these models that cannot be recomputed: without usage, or disputed. */
  skipped: number;
  models: ReadonlyMap<string, Repriced>;
}

/** Calls from `from` to before `to`, in milliseconds since 1970. */
export interface RepricingRequest {
  from: number;
  to: number;
  /** The other price of each model, by name. */
  prices: ReadonlyMap<string, Price>;
  /** Reads the factor of the price version that a call names. */
  readPrice(components: string): Price;
  /** After each page: how many calls were read. Resolves when the next one may be read. */
  progress(calls: number): Promise<void>;
}

/** The progress of a report that takes longer than the caller waits. `startedAt`: milliseconds since 1970. */
export interface RepricingRunning {
  startedAt: number;
  /** Calls that were read, and about how many there are. */
  done: number;
  total: number;
}

/** The finished report, with the period that it covers in milliseconds since 1970. */
export interface RepricingReport extends RepricedBill {
  from: number;
  to: number;
}

/** Reports that may take longer than a client waits. Equal requests share one. */
export interface Repricings {
  /**
   * The bill of the last `days` at these prices. Waits at most `waitMs`: then it returns the progress, and a request with the same
   * `fingerprint` gets the report later. Throws what reading the calls throws.
   */
  ask(
    asked: { fingerprint: string; days: number; prices: ReadonlyMap<string, Price> },
    waitMs: number,
  ): Promise<RepricingReport | RepricingRunning>;
}

interface RepricingsSettings {
  store: Pick<Store, 'billedCalls' | 'price' | 'usage'>;
  readPrice(components: string): Price;
  now(): number;
}

interface Run {
  report: Promise<RepricingReport>;
  running: RepricingRunning;
  /** When the report was finished, in milliseconds since 1970. */
  endedAt?: number;
}

/** How long a finished report is kept for a client that was answered with the progress. */
const KEPT_MS = 600_000;

/** One at a time in this process; calls continue between its pages. */
export function createRepricings({ store, readPrice, now }: RepricingsSettings): Repricings {
  const runs = new Map<string, Run>();
  let last: Promise<unknown> = Promise.resolve();

  function start(key: string, days: number, prices: ReadonlyMap<string, Price>): void {
    const to = now();
    const from = to - days * DAY_MS;
    const running: RepricingRunning = { startedAt: to, done: 0, total: 0 };
    const work = async (): Promise<RepricingReport> => {
      const [sum] = await store.usage({ from, to, groupBy: [] });
      running.total = sum?.calls ?? 0;
      const progress = (calls: number) => {
        running.done = calls;
        return Bun.sleep(0);
      };
      const bill = await reprice(store, { from, to, prices, readPrice, progress });
      run.endedAt = now();
      return { ...bill, from, to };
    };
    const run: Run = { report: last.then(work), running };
    runs.set(key, run);
    last = run.report.catch(() => runs.delete(key));
  }

  return {
    async ask({ fingerprint, days, prices }, waitMs) {
      const key = `${fingerprint} ${days}`;
      for (const [name, { endedAt = now() }] of runs) if (Math.abs(now() - endedAt) > KEPT_MS) runs.delete(name);
      if (!runs.has(key)) start(key, days, prices);
      const { report, running } = runs.get(key) as Run;
      return answerWithin(report, waitMs, running);
    },
  };
}

/** The report if it is ready within this time, otherwise the progress at that time. */
async function answerWithin<T, R>(report: Promise<T>, waitMs: number, running: R): Promise<T | R> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<R>((resolve) => {
    timer = setTimeout(() => resolve(running), waitMs);
  });
  try {
    return await Promise.race([report, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A page takes 1 to 3 ms on SQLite, where reads occupy the event loop. */
const CALLS_AT_ONCE = 500;

/** Charges the recorded usage of each call again at the other price and the factor of its price group. Rejects if the database does not answer. */
async function reprice(
  store: Pick<Store, 'billedCalls' | 'price'>,
  { from, to, prices, readPrice, progress }: RepricingRequest,
): Promise<RepricedBill> {
  const models = [...prices.keys()];
  const sums = new Map<string, Repriced>(models.map((name) => [name, { calls: 0, before: 0n, after: 0n }]));
  /** By price version and model: the new price, at the same factor of a price group. */
  const others = new Map<string, Price>();

  async function otherPrice(model: string, price: Price, priceId: string): Promise<Price> {
    if (!priceId.includes('*')) return price;
    const known = others.get(`${model} ${priceId}`);
    if (known) return known;
    const version = await store.price(priceId);
    const { factor } = version ? readPrice(version.components) : {};
    const other = { ...price, ...(factor !== undefined && { factor }) };
    others.set(`${model} ${priceId}`, other);
    return other;
  }

  let skipped = 0;
  let read = 0;
  let after: { at: number; id: string } | undefined;
  for (let more = true; more; ) {
    const page = await store.billedCalls({ from, to, models, limit: CALLS_AT_ONCE, ...(after && { after }) });
    for (const { model, outcome, cost, priceId, usage } of page) {
      const price = prices.get(model);
      const sum = sums.get(model);
      // What failed without cost has nothing to recompute.
      if (!price || !sum || (!usage && cost === 0n)) continue;
      // A disputed call was charged its hold, whatever its usage. Without a price version nothing was charged.
      const due =
        usage && outcome !== 'disputed' && priceId !== ''
          ? charge(usage, await otherPrice(model, price, priceId))
          : undefined;
      if (due === undefined || due > MAXIMUM_CALL_COST) {
        skipped++;
        continue;
      }
      sum.calls++;
      sum.before += cost;
      sum.after += due;
    }
    read += page.length;
    after = page.at(-1);
    more = page.length === CALLS_AT_ONCE;
    await progress(read);
  }
  const all: Repriced = { calls: 0, before: 0n, after: 0n };
  for (const { calls, before, after } of sums.values()) {
    all.calls += calls;
    all.before += before;
    all.after += after;
  }
  return { ...all, skipped, models: sums };
}
