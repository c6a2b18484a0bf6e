/** Durations in milliseconds, short pauses, and waiting for work in progress with a time limit. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/**
 * Waits until all of this is over, successfully or not, but at most this long. Resolves with whether it is over.
 * Unlike a race with a sleep it leaves no timer behind: that would keep a stopped process alive until it fires.
 */
export async function settledWithin(work: Iterable<Promise<unknown>>, boundMs: number): Promise<boolean> {
  const bound = Promise.withResolvers<false>();
  const timer = setTimeout(bound.resolve, boundMs, false);
  const isOver = await Promise.race([Promise.allSettled(work).then(() => true), bound.promise]);
  clearTimeout(timer);
  return isOver;
}

/** Nobody changes or notifies it. */
const UNCHANGED = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const LONGER_THAN_A_PAUSE_MS = 60_000;

/** Waits for a fraction of a millisecond, or a few. Bun's timers count whole ones: `Bun.sleep(0.9)` does not wait, and `Bun.sleep(1.9)` one. */
export async function pause(ms: number): Promise<void> {
  // Waiting for memory does not keep a process alive.
  const alive = setTimeout(() => {}, LONGER_THAN_A_PAUSE_MS);
  await Atomics.waitAsync(UNCHANGED, 0, 0, ms).value;
  clearTimeout(alive);
}
