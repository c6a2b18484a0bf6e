/** A sliding window: how much happened in the last minute. The caller passes the time. */

/** The current second and the 60 before it: so everything within any 60 s is counted together. */
export const WINDOW_SECONDS = 61;

export interface Window {
  /** Advances to `now` (milliseconds) and returns the sum of the last minute. */
  sum(now: number): number;
  /** Adds to the current second (of the last `sum`) and returns that second, for `correct`. */
  add(amount: number): number;
  /** Corrects what was added at `second`. If that second has left the window, a surplus counts in the current second. */
  correct(second: number, difference: number): void;
  /** Seconds until the last minute holds at most `most`. */
  secondsUntil(most: number): number;
  /** Seconds until the last minute holds nothing. */
  secondsUntilEmpty(): number;
}

export function createWindow(): Window {
  const slots = new Float64Array(WINDOW_SECONDS);
  let present = 0;
  let newest = 0;
  let total = 0;
  /**
   * Added to the clock. After the clock was set back, the window continues from its last time; otherwise it would wait until that time came
   * again.
   */
  let shift = 0;

  return {
    sum(now) {
      let second = Math.floor(now / 1000) + shift;
      if (second < present) {
        shift += present - second;
        second = present;
      }
      for (let passed = Math.min(second - present, WINDOW_SECONDS); passed > 0; passed--) {
        const slot = (second - passed + 1) % WINDOW_SECONDS;
        total -= slots[slot] ?? 0;
        slots[slot] = 0;
      }
      present = second;
      return total;
    },

    add(amount) {
      slots[present % WINDOW_SECONDS]! += amount;
      total += amount;
      newest = present;
      return present;
    },

    correct(second, difference) {
      const gone = present - second >= WINDOW_SECONDS;
      if (gone && difference < 0) return;
      slots[(gone ? present : second) % WINDOW_SECONDS]! += difference;
      total += difference;
      if (gone && difference > 0) newest = present;
    },

    secondsUntil(most) {
      let left = total;
      for (let seconds = 1; seconds <= WINDOW_SECONDS; seconds++) {
        left -= slots[(present + seconds) % WINDOW_SECONDS] ?? 0;
        if (left <= most) return seconds;
      }
      return WINDOW_SECONDS;
    },

    secondsUntilEmpty: () => (total > 0 ? Math.max(0, newest + WINDOW_SECONDS - present) : 0),
  };
}
