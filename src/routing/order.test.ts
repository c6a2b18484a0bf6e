import { describe, expect, test } from 'bun:test';
import { randomFrom } from '../../test/helpers/random-numbers.ts';
import { type Decision, decide, type OrderCriteria, STRATEGIES } from './order.ts';

interface Target {
  id: string;
  priority: number;
  weight: number;
}

const target = (id: string, priority = 0, weight = 1): Target => ({ id, priority, weight });
const questions = (more: Partial<OrderCriteria<Target>> = {}): OrderCriteria<Target> => ({
  strategy: 'weighted',
  bound: undefined,
  lacks: () => undefined,
  standing: () => 'ready',
  score: () => undefined,
  random: () => 0,
  ...more,
});
const ids = ({ choices }: Decision<Target>) => choices.map(({ target: { id } }) => id);
const reasons = ({ choices }: Decision<Target>) => choices.map(({ target: { id }, reason }) => `${id} ${reason}`);

/** How often each target comes first. */
function shares(targets: Target[], more: Partial<OrderCriteria<Target>>, times = 10_000): { [id: string]: number } {
  const random = randomFrom(7);
  const counts: { [id: string]: number } = {};
  for (let i = 0; i < times; i++) {
    const [first = ''] = ids(decide(targets, questions({ random, ...more })));
    counts[first] = (counts[first] ?? 0) + 1 / times;
  }
  return counts;
}

describe('priority and weight', () => {
  test('lower priorities come first, a weight of zero last within its own', () => {
    const targets = [target('a', 0, 0), target('b', 0, 5), target('c', 1, 100)];
    expect(ids(decide(targets, questions({ random: () => 0.99 })))).toEqual(['b', 'a', 'c']);
  });

  test('weights are shares', () => {
    const { a = 0, b = 0 } = shares([target('a', 0, 3), target('b', 0, 1)], {});
    expect(a).toBeCloseTo(0.75, 1);
    expect(b).toBeCloseTo(0.25, 1);
  });
});

describe('affinity', () => {
  test('the bound target comes first within its priority', () => {
    const targets = [target('a'), target('b'), target('c')];
    expect(reasons(decide(targets, questions({ bound: 'c' })))).toEqual(['c affinity', 'a weighted', 'b weighted']);
  });

  test('a recovered primary is used although the conversation is bound to the fallback', () => {
    expect(ids(decide([target('main', 0), target('spare', 1)], questions({ bound: 'spare' })))).toEqual([
      'main',
      'spare',
    ]);
  });

  test('a due probe has precedence', () => {
    const standing = ({ id }: Target) => (id === 'a' ? 'probe' : 'ready') as 'probe' | 'ready';
    expect(reasons(decide([target('a'), target('b')], questions({ bound: 'b', standing })))).toEqual([
      'a probe',
      'b affinity',
    ]);
  });

  test('a bound target that is open is not the first', () => {
    const standing = ({ id }: Target) => (id === 'a' ? 'open' : 'ready') as 'open' | 'ready';
    const decision = decide([target('a'), target('b')], questions({ bound: 'a', standing }));
    expect(ids(decision)).toEqual(['b', 'a']);
    expect(decision.ready).toBe(1);
  });
});

describe('strategies', () => {
  const targets = [target('slow'), target('fast'), target('middle')];
  const times: { [id: string]: number } = { slow: 900, fast: 100, middle: 300 };
  const score = ({ id }: Target) => times[id];

  test('latency: the better of two random ones, so the slowest of three is never first', () => {
    const { slow = 0, fast = 0, middle = 0 } = shares(targets, { strategy: 'latency', score });
    expect(slow).toBe(0);
    expect(fast).toBeCloseTo(2 / 3, 1);
    expect(middle).toBeCloseTo(1 / 3, 1);
  });

  test('price: the cheapest first, equal ones by weight', () => {
    expect(ids(decide(targets, questions({ strategy: 'price', score })))).toEqual(['fast', 'middle', 'slow']);
    const same = shares([target('a', 0, 3), target('b', 0, 1)], { strategy: 'price', score: () => 1 });
    expect(same.a).toBeCloseTo(0.75, 1);
  });

  test('a weight of zero is last in every strategy but price', () => {
    const spare = [target('spare', 0, 0), target('a'), target('b')];
    for (const strategy of ['weighted', 'latency', 'throughput'] as const)
      expect(ids(decide(spare, questions({ strategy, score: ({ id }) => (id === 'spare' ? 1 : 9) }))).at(-1)).toBe(
        'spare',
      );
  });
});

test('what a target lacks excludes it, with the reason', () => {
  const lacks = ({ id }: Target) => (id === 'a' ? 'image input' : undefined);
  const decision = decide([target('a'), target('b')], questions({ lacks }));
  expect(ids(decision)).toEqual(['b']);
  expect(decision.excluded.map(({ target: { id }, reason }) => `${id}: ${reason}`)).toEqual(['a: no image input']);
});

describe('laws over random models', () => {
  const STANDINGS = ['ready', 'probe', 'ramp', 'open', 'limited'] as const;
  const random = randomFrom(42);
  const pick = <X>(list: readonly X[]) => list[Math.floor(random() * list.length)]!;

  function anyModel() {
    const targets = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, i) =>
      target(`t${i}`, Math.floor(random() * 3), pick([0, 1, 1, 5])),
    ).sort((a, b) => a.priority - b.priority);
    const standings = new Map(targets.map(({ id }) => [id, pick(STANDINGS)]));
    const lacking = new Set(targets.flatMap(({ id }) => (random() < 0.2 ? id : [])));
    const scores = new Map(targets.map(({ id }) => [id, pick([undefined, 1, 1, 7])]));
    const ask = questions({
      strategy: pick(STRATEGIES),
      bound: pick([undefined, 't0', 't3', 'gone']),
      lacks: ({ id }) => (lacking.has(id) ? 'tools' : undefined),
      standing: ({ id }) => standings.get(id) ?? 'ready',
      score: ({ id }) => scores.get(id),
      random,
    });
    return { targets, standings, lacking, decision: decide(targets, ask) };
  }

  test('none twice, each in one list, filters and rate limits respected, healthy ones first and by priority', () => {
    for (let i = 0; i < 5000; i++) {
      const { targets, standings, lacking, decision } = anyModel();
      const tried = ids(decision);
      const all = [
        ...tried,
        ...decision.excluded.map(({ target: { id } }) => id),
        ...decision.limited.map(({ id }) => id),
      ];
      expect(all.toSorted()).toEqual(targets.map(({ id }) => id).toSorted());
      expect(new Set(all).size).toBe(targets.length);
      expect(tried.some((id) => lacking.has(id))).toBe(false);
      for (const id of tried) expect(standings.get(id)).not.toBe('limited');
      const isWell = tried.map((id) => ['ready', 'probe'].includes(standings.get(id) ?? ''));
      expect(isWell).toEqual(tried.map((_, place) => place < decision.ready));
      const priorities = decision.choices.slice(0, decision.ready).map(({ target: { priority } }) => priority);
      expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
    }
  });

  test('every healthy target of the first priority with a weight comes first at times', () => {
    const three = [target('a', 0, 1), target('b', 0, 4), target('c', 0, 1)];
    for (const strategy of ['weighted', 'price'] as const)
      expect(Object.keys(shares(three, { strategy, score: () => 1 })).toSorted()).toEqual(['a', 'b', 'c']);
    // Equal times: the draw decides.
    expect(Object.keys(shares(three, { strategy: 'latency', score: () => 1 })).toSorted()).toEqual(['a', 'b', 'c']);
  });
});
