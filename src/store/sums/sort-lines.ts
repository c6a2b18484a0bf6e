/** Sorts the lines of large reports in parts, between which calls go on. */
import { yieldToLoop } from '../../canonical/yield-to-loop.ts';

/** Two thousand comparisons of names take about a millisecond. */
const AT_ONCE = 2000;

/** The same as `lines.sort(compare)` of a copy. */
export async function sortedInParts<Line>(
  lines: readonly Line[],
  compare: (a: Line, b: Line) => number,
  atOnce = AT_ONCE,
): Promise<Line[]> {
  let runs: Line[][] = [];
  for (let at = 0; at < lines.length; at += atOnce) {
    if (at > 0) await yieldToLoop();
    runs.push(lines.slice(at, at + atOnce).sort(compare));
  }
  while (runs.length > 1) {
    const longer: Line[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      longer.push(await merged(runs[at]!, runs[at + 1] ?? [], compare, atOnce));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged<Line>(
  one: readonly Line[],
  other: readonly Line[],
  compare: (a: Line, b: Line) => number,
  atOnce: number,
): Promise<Line[]> {
  const all: Line[] = [];
  for (let i = 0, j = 0; i < one.length || j < other.length; ) {
    const isOne = j === other.length || (i < one.length && compare(one[i]!, other[j]!) <= 0);
    all.push(isOne ? one[i++]! : other[j++]!);
    if (all.length % atOnce === 0) await yieldToLoop();
  }
  return all;
}
