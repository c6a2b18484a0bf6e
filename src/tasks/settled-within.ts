/** Waits for work under way, within bounds. */

/** Until all of it has ended, well or not, or `boundMs` are over. */
export async function settledWithin(work: Iterable<Promise<unknown>>, boundMs: number): Promise<void> {
  const bound = Promise.withResolvers<void>();
  // A timer left over would keep the process alive.
  const timer = setTimeout(bound.resolve, boundMs);
  await Promise.race([Promise.allSettled(work), bound.promise]);
  clearTimeout(timer);
}
