/** Intervals between polls of a task: short at first, then longer, with random variation. In milliseconds. */

const FIRST_LOOK_MS = 5000;
const GROWTH = 1.3;
const SLOWEST_LOOK_MS = 30_000;
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 300_000;

/** `random` in [0, 1) varies the interval by up to a fifth. */
export function nextLook(looks: number, firstMs = FIRST_LOOK_MS, random: number): number {
  return spread(Math.min(Math.max(SLOWEST_LOOK_MS, firstMs), firstMs * GROWTH ** looks), random);
}

/** The delay after this number of failures in a row. */
export function afterFailure(failures: number, random: number): number {
  return spread(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20)), random);
}

function spread(ms: number, random: number): number {
  return Math.round(ms * (0.8 + 0.4 * random));
}
