/** From when on records of calls are kept. They are removed for good, so a clock that has just been set is not believed. */
import { DAY_MS } from './canonical/time.ts';

/** A clock that is set more than this between two turns was changed, not corrected. */
const STEADY_MS = 60_000;

/** Clocks in milliseconds: the wall clock, and a monotonic one. */
interface Clocks {
  now(): number;
  uptime(): number;
}

export interface Retention {
  /** Call it at each turn. `undefined`: nothing is removed this time, or never. */
  keepFrom(): number | undefined;
}

const CLOCKS: Clocks = { now: () => Date.now(), uptime: () => performance.now() };

/** `days`: how long records are kept; 0: for ever. A machine that starts with a wrong clock has it set in the minutes after. */
export function createRetention(days: number, { now, uptime }: Clocks = CLOCKS): Retention {
  const clockSet = () => now() - uptime();
  let setBefore = clockSet();
  return {
    keepFrom() {
      const set = clockSet();
      const isSteady = Math.abs(set - setBefore) < STEADY_MS;
      setBefore = set;
      return days > 0 && isSteady ? now() - days * DAY_MS : undefined;
    },
  };
}
