/** When to look at a task again: soon at first, ever less often, never all at once. Milliseconds. */

const FIRST_LOOK_MS = 5000;
const GROWTH = 1.3;
const SLOWEST_LOOK_MS = 30_000;
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 300_000;

/** `random` in [0, 1) spreads the looks by a fifth to either side. */
export function nextLook(looks: number, firstMs = FIRST_LOOK_MS, random: number): number {
  return spread(Math.min(Math.max(SLOWEST_LOOK_MS, firstMs), firstMs * GROWTH ** looks), random);
}

/** After so many failures in a row. */
export function afterFailure(failures: number, random: number): number {
  return spread(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20)), random);
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (0.8 + 0.4 * random));
}
