/** How far back the overview has slots of five minutes and of hours, and which slots a request reads. */
import { DAY_MS, HOUR_MS } from '../../canonical/time.ts';
import { SLOT_MS, SLOTS_PER_DAY, SLOTS_PER_HOUR } from './overview-sums.ts';

/** Older slots of five minutes are merged into hours, older hours into days. */
const MINUTES_KEPT_MS = 6 * HOUR_MS;
const HOURS_KEPT_MS = 17 * DAY_MS;

/** The merges that are due: slots before the second number become slots of so many. Whole hours and days. */
export function mergesAt(now: number): readonly (readonly [size: number, before: number])[] {
  const hours = Math.floor((now - MINUTES_KEPT_MS) / HOUR_MS) * SLOTS_PER_HOUR;
  const days = Math.floor((now - HOURS_KEPT_MS) / DAY_MS) * SLOTS_PER_DAY;
  return [
    [SLOTS_PER_HOUR, hours],
    [SLOTS_PER_DAY, days],
  ];
}

/** What a request reads: [`before`, `from`) and [`from`, `to`) in slots, summed by `step` slots. */
export interface OverviewSpan {
  before: number;
  from: number;
  to: number;
  step: number;
  /** `before` ends here in sums: as much of a period that has not ended. */
  beforeTo: number;
}

const FINE_SPAN_MS = 2 * HOUR_MS;
const HOURLY_SPAN_MS = 8 * DAY_MS;

/** Rounds outwards to the slots that exist for the period and the one before. */
export function spanOf(from: number, to: number, now: number): OverviewSpan {
  const size = sizeOf(from, to, now);
  const step = size / SLOT_MS;
  const first = Math.floor(from / size) * step;
  const end = Math.max(Math.ceil(to / size) * step, first + step);
  const before = first - (end - first);
  const elapsed = Math.ceil(Math.min(to, now) / size) * step - first;
  return { before, from: first, to: end, step, beforeTo: before + Math.min(Math.max(elapsed, 0), end - first) };
}

function sizeOf(from: number, to: number, now: number): number {
  const length = to - from;
  const age = now - (from - length);
  // The periods are rounded outwards by up to a slot each, and the slots of an hour are merged when its last one is old enough.
  if (length <= FINE_SPAN_MS && age <= MINUTES_KEPT_MS - HOUR_MS) return SLOT_MS;
  return length <= HOURLY_SPAN_MS && age <= HOURS_KEPT_MS - DAY_MS ? HOUR_MS : DAY_MS;
}
