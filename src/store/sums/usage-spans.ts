/** Which sums make up the periods of a report: whole days where they are summed, hours for the rest. All pure. */
import { HOURS_PER_DAY } from './usage-days.ts';

/** The sums from `first` and before `next`, in hours or days, that count in a period. */
export interface UsageSpan {
  first: number;
  next: number;
  /** The index of a period. */
  period: number;
  /** These hours are in the sum of a day that counts in this period, from which they are taken. */
  minus?: number;
}

export interface UsageSpans {
  days: UsageSpan[];
  hours: UsageSpan[];
}

/**
 * `bounds`: the hours at which the periods begin, and the end of the last. `done`: the days with sums, in order. A day that lies in several periods,
 * as in all zones but UTC, counts in the one with most of its hours; its other hours are taken from it and added to their own.
 */
export function spansOf(bounds: readonly number[], done: readonly number[]): UsageSpans {
  const spans: UsageSpans = { days: [], hours: [] };
  const [begin, end] = [bounds[0]!, bounds.at(-1)!];
  let reached = begin;
  for (const day of done) {
    const [first, next] = [day * HOURS_PER_DAY, (day + 1) * HOURS_PER_DAY];
    if (first < begin || next > end) continue;
    const parts = partsWithin(bounds, first, next);
    const main = parts.reduce((most, part) => (part.next - part.first > most.next - most.first ? part : most));
    // Read as hours if that is not more than what would be taken and added.
    if ((main.next - main.first) * 2 <= HOURS_PER_DAY) continue;
    for (const part of partsWithin(bounds, reached, first)) push(spans.hours, part);
    push(spans.days, { first: day, next: day + 1, period: main.period });
    for (const part of parts) if (part !== main) push(spans.hours, { ...part, minus: main.period });
    reached = next;
  }
  for (const part of partsWithin(bounds, reached, end)) push(spans.hours, part);
  return spans;
}

/** The hours from `first` and before `next`, cut at the beginnings of periods. */
function partsWithin(bounds: readonly number[], first: number, next: number): UsageSpan[] {
  const parts: UsageSpan[] = [];
  for (let period = indexOf(bounds, first); period < bounds.length - 1 && bounds[period]! < next; period++) {
    const part = { first: Math.max(first, bounds[period]!), next: Math.min(next, bounds[period + 1]!), period };
    if (part.first < part.next) parts.push(part);
  }
  return parts;
}

/** The period in which the hour lies. */
function indexOf(bounds: readonly number[], hour: number): number {
  let [low, high] = [0, bounds.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (bounds[middle]! <= hour) low = middle;
    else high = middle;
  }
  return low;
}

/** Joins spans that follow each other. */
function push(spans: UsageSpan[], span: UsageSpan): void {
  const last = spans.at(-1);
  if (last && last.next === span.first && last.period === span.period && last.minus === span.minus)
    last.next = span.next;
  else spans.push({ ...span });
}
