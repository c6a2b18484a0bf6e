/** The steps of a chart. Pure. */
import type { Overview } from '../../api/types.ts';
import { chartValue } from '../../format/money.ts';
import { dayOf, fullTime, shortTime, utcDayOf } from '../../format/numbers.ts';
import type { Period } from '../../parts/filters.ts';

export interface Bucket {
  at: number;
  spend: number;
  calls: number;
}

const HOUR = 3_600_000;

/** How the times of a chart read. */
export interface TimeWriting {
  writeTime: (at: number) => string;
  writeAxis: (at: number) => string;
  inUtc: boolean;
}

/** Days are the gateway's, which begin at midnight UTC; shorter steps are times of the reader's day. */
export function writingOf(stepSeconds: number, period: Period): TimeWriting {
  if (stepSeconds * 1000 === STEPS.day)
    return { writeTime: (at) => `${utcDayOf(at)} (UTC)`, writeAxis: utcDayOf, inUtc: true };
  return { writeTime: fullTime, writeAxis: period === '1h' || period === '24h' ? shortTime : dayOf, inUtc: false };
}

export const STEPS = { hour: HOUR, day: 24 * HOUR } as const;

/** A step of the overview beside the same step of the period before. Times are null where no call has one. */
export interface Step extends Bucket {
  before: number;
  p50: number | null;
  p95: number | null;
}

/** All steps of the period, with zeros where nothing was. */
export function stepsOf({ from, to, stepSeconds, before, series, previousSeries }: Overview): readonly Step[] {
  const stepMs = stepSeconds * 1000;
  const [start, shift] = [Date.parse(from), Date.parse(from) - Date.parse(before.from)];
  const now = new Map(series.map((step) => [Date.parse(step.at), step]));
  const earlier = new Map(previousSeries.map((step) => [Date.parse(step.at), step]));
  const steps: Step[] = [];
  for (let at = start; at < Date.parse(to); at += stepMs) {
    const step = now.get(at);
    const same = earlier.get(at - shift);
    steps.push({
      at,
      spend: step ? chartValue(step.spend) : 0,
      calls: step?.calls ?? 0,
      before: same ? chartValue(same.spend) : 0,
      p50: step?.firstTokenMs?.p50 ?? null,
      p95: step?.firstTokenMs?.p95 ?? null,
    });
  }
  return steps;
}
