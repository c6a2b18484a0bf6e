/** Durations in milliseconds, and waiting for work in progress with a time limit. */

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
