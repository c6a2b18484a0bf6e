/** Finds import cycles. */

/** One cycle for each group of files that import each other: the shortest through the first file. */
export function cyclesIn(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  for (const file of [...imports.keys()].sort()) {
    if (done.has(file)) continue;
    const cycle = shortestCycle(file, imports);
    if (!cycle) continue;
    cycles.push(cycle);
    for (const one of cycle) done.add(one);
  }
  return cycles;
}

/** The shortest path from the file back to itself, by breadth-first search. */
function shortestCycle(file: string, imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const ways = [[file]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of imports.get(way.at(-1) ?? '') ?? []) {
      if (next === file) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
