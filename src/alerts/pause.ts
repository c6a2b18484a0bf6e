/** The pause before a delivery is tried again. */

const FIRST_MS = 5000;
const LONGEST_MS = 3_600_000;
/** The pause varies by this share, so that many deliveries do not come at once. */
const SPREAD = 0.2;

/** After so many tries that failed: 5 s, 10 s, 20 s … up to an hour. `random` in [0, 1). */
export function pauseAfter(tries: number, random: number): number {
  const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** (tries - 1));
  return Math.round(pause * (1 - SPREAD / 2 + SPREAD * random));
}
