/** In which order to try a model's targets: filters, priority, affinity within a priority, then the model's strategy. Pure. */
import type { Standing } from './health.ts';

/** How targets of one priority are ordered (`docs/guides/routing.md#order`). */
export const STRATEGIES = ['weighted', 'latency', 'price', 'throughput'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** What an operator configures about a target's place in the order. */
export interface Ranked {
  id: string;
  /** Lower is tried earlier. */
  priority: number;
  /** Share within a priority; 0 means only after all others of it. */
  weight: number;
}

/** The data about targets that an order uses. */
export interface OrderCriteria<T extends Ranked> {
  strategy: Strategy;
  /** The target that the conversation is bound to. */
  bound: string | undefined;
  /** What the target lacks of what the call needs. */
  lacks(target: T): string | undefined;
  /** `limited`: none of its credentials may be used now. */
  standing(target: T): Standing | 'limited';
  /** Lower is better; `undefined`: nothing is known of it. Of `latency`, `price` and `throughput`. */
  score(target: T): number | undefined;
  /** In [0, 1). */
  random(): number;
}

/** A target and the reason for its place. */
export interface Choice<T> {
  target: T;
  reason: string;
}

/** Every target of a model, each in exactly one of these lists. */
export interface Decision<T> {
  /** To be tried in this order; the first `ready` of them are well, the others only if all of those fail. */
  choices: Choice<T>[];
  ready: number;
  /** Cannot serve the call, with what they lack. */
  excluded: Choice<T>[];
  /** Must not be called until a rate limit ends. */
  limited: T[];
}

/** `targets` is sorted by priority. No target is in the result twice, and each is in one of its lists. */
export function decide<T extends Ranked>(targets: readonly T[], criteria: OrderCriteria<T>): Decision<T> {
  const decision: Decision<T> = { choices: [], ready: 0, excluded: [], limited: [] };
  const last: Choice<T>[] = [];
  let group: Choice<T>[] = [];
  let priority: number | undefined;
  for (const target of targets) {
    if (target.priority !== priority) {
      settleGroup(decision, group, criteria);
      group = [];
      ({ priority } = target);
    }
    const lacking = criteria.lacks(target);
    if (lacking !== undefined) {
      decision.excluded.push({ target, reason: `no ${lacking}` });
      continue;
    }
    const standing = criteria.standing(target);
    if (standing === 'limited') decision.limited.push(target);
    else if (standing === 'ready' || standing === 'probe') group.push({ target, reason: standing });
    // A target that recovers may take calls that have nowhere else to go; one that is open takes one at a time.
    else if (standing === 'ramp') last.unshift({ target, reason: 'recovering' });
    else last.push({ target, reason: 'open' });
  }
  settleGroup(decision, group, criteria);
  decision.ready = decision.choices.length;
  decision.choices.push(...last);
  return decision;
}

/** Targets of one priority: a probe that is due, the one that the conversation is bound to, then by strategy. */
function settleGroup<T extends Ranked>(decision: Decision<T>, group: Choice<T>[], criteria: OrderCriteria<T>): void {
  const { choices } = decision;
  const left: T[] = [];
  for (const choice of group) {
    if (choice.reason === 'probe') choices.push(choice);
    else left.push(choice.target);
  }
  const bound = criteria.bound === undefined ? -1 : left.findIndex(({ id }) => id === criteria.bound);
  if (bound >= 0) choices.push(...left.splice(bound, 1).map((target) => ({ target, reason: 'affinity' })));
  for (const target of byStrategy(left, criteria)) choices.push({ target, reason: criteria.strategy });
}

function byStrategy<T extends Ranked>(group: T[], criteria: OrderCriteria<T>): T[] {
  if (group.length < 2) return group;
  switch (criteria.strategy) {
    case 'weighted':
      return byWeight(group, criteria.random);
    case 'price':
      return ordered(byWeight(group, criteria.random), criteria.score);
    case 'latency':
    case 'throughput':
      return betterOfTwo(group, criteria);
  }
}

/** By weight at random. */
function byWeight<T extends Ranked>(targets: readonly T[], random: () => number): T[] {
  const group = [...targets];
  const order: T[] = [];
  while (group.length > 1) order.push(...group.splice(draw(group, random()), 1));
  return order.concat(group);
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

/** The lowest score first; equal ones stay in their order, unknown ones come last. */
function ordered<T>(targets: readonly T[], score: (target: T) => number | undefined): T[] {
  const scored = targets.map((target) => ({ target, score: score(target) ?? Number.POSITIVE_INFINITY }));
  return scored.sort((a, b) => (a.score === b.score ? 0 : a.score - b.score)).map(({ target }) => target);
}

/** The better of two random ones comes first, so that not all calls use the target that was best a moment ago. */
function betterOfTwo<T extends Ranked>(group: readonly T[], criteria: OrderCriteria<T>): T[] {
  const weighed = group.filter(({ weight }) => weight > 0);
  const unweighed = group.filter(({ weight }) => weight === 0);
  if (weighed.length < 2) return [...weighed, ...unweighed];
  const first = Math.floor(criteria.random() * weighed.length);
  const other = (first + 1 + Math.floor(criteria.random() * (weighed.length - 1))) % weighed.length;
  const [best] = ordered([weighed[first]!, weighed[other]!], criteria.score);
  const rest = ordered(
    weighed.filter((target) => target !== best),
    criteria.score,
  );
  return [best!, ...rest, ...unweighed];
}
