/** How much happened in the last minute, by a clock that only its caller knows. */

/** The present second and the 60 before it: whatever lies within any 60 s, wherever a second begins, is counted together. */
export const WINDOW_SECONDS = 61;

export interface Window {
  /** Moves on to `now` (milliseconds) and says how much the last minute holds. */
  sum(now: number): number;
  /** Adds to the present second (the last one `sum` was told) and returns it, for `correct`. */
  add(amount: number): number;
  /** Corrects what was added at `second`: the surplus counts from now on where that second has left the window. */
  correct(second: number, difference: number): void;
  /** Seconds until the minute holds at most `most`. */
  secondsUntil(most: number): number;
  /** Seconds until the minute holds nothing. */
  secondsUntilEmpty(): number;
}

export function createWindow(): Window {
  const slots = new Float64Array(WINDOW_SECONDS);
  let present = 0;
  let newest = 0;
  let total = 0;
  /** Added to the clock: a clock that was set back goes on from where the window stands, or it would wait for that time again. */
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
