/**
 * Recomputes every bill of a storm from what the provider sent, what the client saw, and the price, without code of the ledger. If a
 * process died or a client disconnected, the call may have ended at several moments: the bill must be that of one of them, to the nano-USD.
 */
import { MINUTE_MS } from '../../../src/canonical/time.ts';
import type { JournalEntry } from '../../upstream/scripted-upstream.ts';
import type { Seen } from './leaving-client.ts';
import { isFailure, type Known, moments } from './lying-provider.ts';
import type { Plan } from './plan.ts';

/** Pico-USD per token. */
export interface Rates {
  input: bigint;
  output: bigint;
  /** Per image. */
  image: bigint;
}

/** A call as the admin API shows it. */
export interface Bill {
  id: string;
  account: string;
  key: string;
  model: string;
  outcome: string;
  cost: bigint;
  priceId: string;
  provisional?: boolean;
  usage?: { input: number; output: number; source: string };
}

/** The result of a plan. */
export interface CallResult {
  /** When it was sent, and when its client had its answer or disconnected. */
  sentMs: number;
  overMs: number;
  plan: Plan;
  /** The id of the key. */
  key: string;
  seen: Seen;
  /** The process that received it was killed before the end of the storm. */
  wasKilled: boolean;
  /** When the process was stopped, if it was: active calls were ended and settled. */
  stoppedMs?: number | undefined;
  journal: JournalEntry[];
}

const PICO_PER_NANO = 1000n;

/** Rounds up once, at the end. */
function costOf(input: number, output: number, rates: Rates): bigint {
  const pico = BigInt(input) * rates.input + BigInt(output) * rates.output;
  return (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO;
}

/**
 * The cost of a call that ended at this moment: by the final report; otherwise by the last report, but at least what was delivered;
 * otherwise what was delivered.
 */
function costAt(known: Known, plan: Plan, rates: Rates): bigint {
  const { words, report, isComplete } = known;
  const { estimatedInput } = plan;
  if (plan.images > 0) return costOfImages(report?.input ?? estimatedInput, isComplete ? plan.images : 0, rates);
  if (!report) return costOf(estimatedInput, words, rates);
  const cost = costOf(report.input, isComplete ? report.output : Math.max(report.output, words), rates);
  const held = heldFor(plan, rates);
  // Only `usage-huge` claims so much: it is disputed, and the hold is charged.
  return cost > 2n * held ? held : cost;
}

function costOfImages(input: number, images: number, rates: Rates): bigint {
  return costOf(input, 0, rates) + (BigInt(images) * rates.image) / PICO_PER_NANO;
}

function heldFor({ estimatedInput, ceiling, images }: Plan, rates: Rates): bigint {
  return images > 0 ? costOfImages(estimatedInput, images, rates) : costOf(estimatedInput, ceiling, rates);
}

const WHOLE = { sentBytes: Number.POSITIVE_INFINITY };

/** Every cost that the call may have; empty: it must not be recorded. */
export function allowedCosts(result: CallResult, bill: Bill, rates: Rates): Set<bigint> {
  const { plan, seen, wasKilled, stoppedMs, journal } = result;
  const isCut = wasKilled || stoppedMs !== undefined;
  const sent = journal[0];
  const estimate = costOf(plan.estimatedInput, 0, rates);
  if (!sent) return new Set(seen.left || isCut ? [0n, estimate] : [0n]);
  const all = moments(plan, sent);
  const last = all.at(-1)!;
  const final = costAt(last, plan, rates);
  // A process that died may have recorded any moment, at most the hold.
  if (bill.provisional) return new Set(all.map((known) => smaller(costAt(known, plan, rates), heldFor(plan, rates))));
  if (seen.complete) return new Set([final]);
  if (isFailure(plan) && last.words === 0)
    return new Set(seen.left || seen.status === undefined ? [0n, estimate] : [0n]);
  if (!seen.left && !isCut && seen.status === 200) return new Set(endsOf(all, plan, rates));
  // Its upstream is read to the end, or while its usage is awaited.
  const isAwaited = plan.stream && (plan.policy === 'drain' || seen.finish) && !isCut && !isFailure(plan);
  if (isAwaited) return new Set([costAt(moments(plan, WHOLE).at(-1)!, plan, rates)]);
  // What a provider sends after the end of the choice is passed on, and is not part of the reply.
  const words = Math.min(seen.words, plan.words);
  return new Set([
    ...all.filter((known) => known.words >= words).map((known) => costAt(known, plan, rates)),
    // A call that fails or is ended before any output costs nothing.
    ...(isFailure(plan) || (wasEnded(result) && words === 0) ? [0n] : []),
  ]);
}

/** A stop may have ended the call while its client was there. */
const wasEnded = ({ seen, stoppedMs, overMs }: CallResult): boolean =>
  stoppedMs !== undefined && (!seen.left || stoppedMs <= overMs);

/** The answer failed at its provider: everything that had arrived was delivered, and what was on its way may have been. */
function endsOf(all: readonly Known[], plan: Plan, rates: Rates): bigint[] {
  return all.slice(-3).map((known) => costAt(known, plan, rates));
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

/** The plan of each bill: by the id that the client got, otherwise by its unique input, otherwise by its cost. */
export function matchBills(
  bills: readonly Bill[],
  results: readonly CallResult[],
  ratesOf: (bill: Bill) => Rates,
): Map<Bill, CallResult> {
  const byId = new Map(results.flatMap((result) => (result.seen.requestId ? [[result.seen.requestId, result]] : [])));
  const byInput = new Map(
    results.flatMap((result) =>
      [result.plan.estimatedInput, result.plan.reportedInput].map((input) => [input, result]),
    ),
  );
  const matched = new Map<Bill, CallResult>();
  for (const bill of bills) {
    const input = bill.usage?.input ?? Number((bill.cost * PICO_PER_NANO) / ratesOf(bill).input);
    const result = byId.get(bill.id) ?? (bill.cost > 0n ? byInput.get(input) : undefined);
    if (result) matched.set(bill, result);
  }
  return matched;
}

/**
 * What bills cost beyond their holds. The provider's report of the input is larger than the estimate, so that a call may cost more than was
 * held for it: by that difference a balance or a budget may be exceeded.
 */
export function beyondHolds(
  bills: readonly Bill[],
  results: readonly CallResult[],
  ratesOf: (bill: Bill) => Rates,
): Map<Bill, bigint> {
  const beyond = new Map<Bill, bigint>();
  for (const [bill, { plan }] of matchBills(bills, results, ratesOf)) {
    const more = bill.cost - heldFor(plan, ratesOf(bill));
    if (more > 0n) beyond.set(bill, more);
  }
  return beyond;
}

/** The faults of the bills as sentences; empty if each is exact. */
export function faultsOf(
  bills: readonly Bill[],
  results: readonly CallResult[],
  ratesOf: (bill: Bill) => Rates,
): string[] {
  const faults: string[] = [];
  const matched = matchBills(bills, results, ratesOf);
  const billsOf = new Map<CallResult, Bill[]>();
  for (const bill of bills) {
    const result = matched.get(bill);
    if (result) billsOf.set(result, [...(billsOf.get(result) ?? []), bill]);
    else if (bill.cost > 0n) faults.push(`${bill.id} costs ${bill.cost}, without a request`);
  }
  for (const result of results) {
    const own = billsOf.get(result) ?? [];
    const what = `${JSON.stringify({ ...result.plan, body: undefined })} seen ${JSON.stringify({ ...result.seen, text: result.seen.text.slice(0, 300) })}`;
    if (result.journal.length > mostSendings(result.plan))
      faults.push(`sent upstream ${result.journal.length} times: ${what}`);
    if (own.filter(({ cost }) => cost > 0n).length > 1)
      faults.push(`charged twice (${own.map(({ id }) => id)}): ${what}`);
    const [bill] = own;
    if (!bill) {
      if (result.seen.complete || (result.journal.length > 0 && mustBeCharged(result)))
        faults.push(`not on record: ${what}`);
      continue;
    }
    if (bill.provisional && !result.wasKilled) faults.push(`${bill.id} is still settled provisionally`);
    const allowed = allowedCosts(result, bill, ratesOf(bill));
    if (bill.key !== result.key) faults.push(`${bill.id} is charged to ${bill.key}, not ${result.key}`);
    if (!allowed.has(bill.cost)) {
      const sent = result.journal[0]?.sentBytes;
      faults.push(
        `${JSON.stringify({ ...bill, cost: String(bill.cost) })} may cost ${[...allowed].slice(0, 60)}; ${sent} bytes sent; ${what}`,
      );
    }
  }
  return faults;
}

/** The provider has worked for it. */
const mustBeCharged = ({ plan, stoppedMs }: CallResult): boolean => !isFailure(plan) && stoppedMs === undefined;

/** Tries at the last target: one, and the retries by default (`src/routing/retry.ts`). */
const TRIES = 3;

/**
 * A kept connection closed without a byte of an answer may have been closed for being idle: the request is sent once more (decision 0010).
 */
const mostSendings = ({ provider }: Plan): number => (provider === 'cut-before-headers' ? TRIES * 2 : 1);

/** Calls admitted above a key's limit in any minute. A call was admitted at some time between its sending and its arrival at the provider. */
export function limitFaults(results: readonly CallResult[], perMinute: ReadonlyMap<string, number>): string[] {
  return [...perMinute].flatMap(([key, limit]) => {
    const own = results.filter((result) => result.key === key && result.journal.length > 0);
    const most = Math.max(0, ...own.map(({ sentMs }) => within(own, sentMs)));
    // Five percent more, as documented for limits with Redis.
    return most > Math.ceil(limit * 1.05) ? [`${most} calls of ${key} were let in within a minute, of ${limit}`] : [];
  });
}

const within = (results: readonly CallResult[], from: number): number =>
  results.filter((result) => result.sentMs >= from && admittedBy(result) <= from + MINUTE_MS).length;

/** A client may leave before its request is read, as by a process that is suspended. */
const admittedBy = ({ overMs, journal }: CallResult): number =>
  Math.max(overMs, (journal[0]?.atMs ?? 0) - performance.timeOrigin);
