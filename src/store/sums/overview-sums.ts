/**
 * Sums of all calls for the overview: by model and slot of time, with counts of times by range. A slot is five minutes; old slots are merged
 * into hours, and hours into days, so that a quarter of a year is a few thousand rows.
 */
import type { Money } from '../../canonical/money.ts';
import type { CallOutcome, CallRow } from '../rows.ts';
import type { CompletedCall, RecordedCall, Tokens } from './call-sums.ts';

export const SLOT_MS = 300_000;
export const SLOTS_PER_HOUR = 12;
export const SLOTS_PER_DAY = 288;

/** Upper ends of the ranges in milliseconds. A last range has no end. Stored by position: changing them needs a new table. */
const ENDS = [
  10, 25, 50, 100, 150, 200, 300, 450, 700, 1000, 1500, 2500, 5000, 10_000, 20_000, 40_000, 90_000, 240_000,
] as const;
export const RANGES = ENDS.length + 1;

/** The counts of a sum in the order in which they are stored. */
const PLAIN = ['calls', 'failed', 'input', 'output', 'cachedInput', 'cacheWrite', 'reasoning'] as const;
export type PlainCount = (typeof PLAIN)[number];
const PLACE: { readonly [name in PlainCount]: number } = {
  calls: 0,
  failed: 1,
  input: 2,
  output: 3,
  cachedInput: 4,
  cacheWrite: 5,
  reasoning: 6,
};
/** Where the counts by range of each time begin. */
const RANGES_AT = { firstByteMs: PLAIN.length, durationMs: PLAIN.length + RANGES } as const;
export type TimedCount = keyof typeof RANGES_AT;
export const COUNTS = RANGES_AT.durationMs + RANGES;

export interface OverviewFigures {
  cost: Money;
  saved: Money;
  /** `PlainCount`s, calls by range of the time to the first token, calls by range of the duration. */
  counts: number[];
}

export interface OverviewSum extends OverviewFigures {
  slot: number;
  model: string;
}

export const noFigures = (): OverviewFigures => ({ cost: 0n, saved: 0n, counts: new Array(COUNTS).fill(0) });

export const countOf = ({ counts }: OverviewFigures, name: PlainCount): number => counts[PLACE[name]]!;

/** What a sum needs of a call. */
export type SummedCall = Pick<
  CallRow,
  'at' | 'model' | 'outcome' | 'cost' | 'saved' | 'usage' | 'firstByteMs' | 'durationMs' | 'provisional'
> & { tokens: Tokens };

export class OverviewSums {
  readonly sums: OverviewSum[] = [];

  add(call: SummedCall): void {
    const { counts } = this.#count(call, call, 1);
    // The record of a process that was assumed dead has no times, and its final record counts instead.
    if (call.provisional) return;
    const { usage, firstByteMs } = call;
    if (usage) {
      counts[PLACE.cachedInput]! += whole(usage.cachedInput);
      counts[PLACE.cacheWrite]! += whole(usage.cacheWrite) + whole(usage.cacheWriteHour);
      counts[PLACE.reasoning]! += whole(usage.reasoning);
    }
    if (firstByteMs !== undefined) counts[RANGES_AT.firstByteMs + rangeOf(firstByteMs)]!++;
    if (call.outcome === 'ok') counts[RANGES_AT.durationMs + rangeOf(call.durationMs)]!++;
  }

  /** Takes a provisional record out again. */
  take(call: Pick<SummedCall, 'at' | 'model' | 'outcome' | 'cost' | 'saved' | 'tokens'>): void {
    this.#count(call, call, -1);
  }

  #count(
    { at, model }: Pick<SummedCall, 'at' | 'model'>,
    { cost, saved = 0n, outcome, tokens }: Pick<SummedCall, 'cost' | 'saved' | 'outcome' | 'tokens'>,
    sign: 1 | -1,
  ): OverviewSum {
    const sum = this.#sumOf(Math.floor(at / SLOT_MS), model);
    const { counts } = sum;
    sum.cost += sign === 1 ? cost : -cost;
    sum.saved += sign === 1 ? saved : -saved;
    counts[PLACE.calls]! += sign;
    if (FAILURES.has(outcome)) counts[PLACE.failed]! += sign;
    counts[PLACE.input]! += sign * tokens.input;
    counts[PLACE.output]! += sign * tokens.output;
    return sum;
  }

  #sumOf(slot: number, model: string): OverviewSum {
    for (const sum of this.sums) if (sum.slot === slot && sum.model === model) return sum;
    const sum = { slot, model, ...noFigures() };
    this.sums.push(sum);
    return sum;
  }
}

/** A client that leaves and a request that a provider refuses are no failure of the service. */
const FAILURES: ReadonlySet<CallOutcome> = new Set<CallOutcome>(['failed', 'broken', 'interrupted']);

/** The sums of one batch. */
export function sumOverview(calls: readonly RecordedCall[], completed: readonly CompletedCall[]): OverviewSum[] {
  const sums = new OverviewSums();
  for (const { row, tokens } of calls) sums.add({ ...row, tokens });
  for (const { row, tokens, before } of completed) {
    sums.take({ ...before, at: row.at, model: row.model });
    sums.add({ ...row, tokens });
  }
  return sums.sums;
}

const MOST_TOKENS = 2 ** 40;

/** A provider may report any number; the sums must stay valid integers. */
const whole = (figure: number | undefined): number =>
  figure !== undefined && figure > 0 && figure < MOST_TOKENS ? Math.ceil(figure) : 0;

function rangeOf(ms: number): number {
  const rounded = Math.round(ms);
  let range = 0;
  while (range < ENDS.length && rounded > ENDS[range]!) range++;
  return range;
}

export function addFigures(to: OverviewFigures, more: OverviewFigures): void {
  to.cost += more.cost;
  to.saved += more.saved;
  for (let index = 0; index < COUNTS; index++) to.counts[index]! += more.counts[index]!;
}

/**
 * The time in milliseconds below which the share `p` of the calls lies, interpolated within its range; the beginning of the last range.
 * `undefined` without calls.
 */
export function quantile({ counts }: OverviewFigures, time: TimedCount, p: number): number | undefined {
  const start = RANGES_AT[time];
  let total = 0;
  for (let range = 0; range < RANGES; range++) total += counts[start + range]!;
  if (total <= 0) return undefined;
  let below = 0;
  for (let range = 0; range < RANGES; range++) {
    const calls = counts[start + range]!;
    if (below + calls >= p * total && calls > 0) {
      const from = range === 0 ? 0 : ENDS[range - 1]!;
      const to = ENDS[range] ?? from;
      return from + ((p * total - below) / calls) * (to - from);
    }
    below += calls;
  }
  return ENDS.at(-1);
}
