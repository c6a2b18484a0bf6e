/** Waits for work in progress, with a time limit. */

/** Resolves when all work has ended, successfully or not, or after `boundMs`. */
export async function settledWithin(work: Iterable<Promise<unknown>>, boundMs: number): Promise<void> {
  const bound = Promise.withResolvers<void>();
  // A remaining timer would keep the process alive.
  const timer = setTimeout(bound.resolve, boundMs);
  await Promise.race([Promise.allSettled(work), bound.promise]);
  clearTimeout(timer);
}
