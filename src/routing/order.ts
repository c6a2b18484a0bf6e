/** In which order to try targets: by priority, within one by weight at random. Pure. */

export interface Ranked {
  /** Lower is tried earlier. */
  priority: number;
  /** Share within a priority; 0 means only after all others of it. */
  weight: number;
}

/** The targets in the order to try them, none twice. `targets` is sorted by priority; `random` gives [0, 1). */
export function weightedOrder<T extends Ranked>(targets: readonly T[], random: () => number): T[] {
  const order: T[] = [];
  for (let from = 0; from < targets.length; ) {
    const priority = targets[from]?.priority;
    let end = from + 1;
    while (end < targets.length && targets[end]?.priority === priority) end++;
    const group = targets.slice(from, end);
    while (group.length > 1) order.push(...group.splice(draw(group, random()), 1));
    order.push(...group);
    from = end;
  }
  return order;
}

/** Index of the target that `point` in [0, 1) falls on when each has its weight's share of the line. */
function draw(group: readonly Ranked[], point: number): number {
  let sum = 0;
  for (const target of group) sum += target.weight;
  if (sum === 0) return Math.floor(point * group.length);
  let left = point * sum;
  let last = 0;
  for (const [index, target] of group.entries()) {
    if (target.weight === 0) continue;
    last = index;
    left -= target.weight;
    if (left < 0) break;
  }
  return last;
}
