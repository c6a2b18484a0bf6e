import { expect, test } from 'bun:test';
import { weightedOrder } from './order.ts';

const target = (name: string, priority: number, weight: number) => ({ name, priority, weight });
/** A small generator with a known course, so that shares can be tested. */
function course(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test('a lower priority comes first, whatever the weights', () => {
  const targets = [target('a', 0, 1), target('b', 1, 1000), target('c', 2, 1)];
  expect(weightedOrder(targets, course(1)).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

test('within a priority each target leads in its share, and none comes twice', () => {
  const targets = [target('a', 0, 1), target('b', 0, 3), target('z', 5, 1)];
  const random = course(7);
  let led = 0;
  for (let i = 0; i < 4000; i++) {
    const names = weightedOrder(targets, random).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['a', 'b', 'z']);
    expect(names[2]).toBe('z');
    if (names[0] === 'b') led++;
  }
  expect(led / 4000).toBeCloseTo(0.75, 1);
});

test('a weight of zero means only after the others; all zero means by turns at random', () => {
  const random = course(3);
  for (let i = 0; i < 200; i++) {
    const order = weightedOrder([target('spare', 0, 0), target('a', 0, 1), target('b', 0, 1)], random);
    expect(order[2]?.name).toBe('spare');
  }
  const leaders = new Set<string | undefined>();
  for (let i = 0; i < 50; i++) leaders.add(weightedOrder([target('a', 0, 0), target('b', 0, 0)], random)[0]?.name);
  expect(leaders).toEqual(new Set(['a', 'b']));
});

test('the edges of the random line fall on a target', () => {
  const targets = [target('a', 0, 1), target('b', 0, 0.5), target('c', 0, 0)];
  expect(weightedOrder(targets, () => 0)).toHaveLength(3);
  expect(weightedOrder(targets, () => 1 - Number.EPSILON / 2).map(({ name }) => name)).toEqual(['b', 'a', 'c']);
  // 0.1, 0.1 and 0.4 leave nothing of the line's end but a rounding error: it must not fall on the spare one.
  const uneven = [target('a', 0, 0.1), target('b', 0, 0.1), target('c', 0, 0.4), target('spare', 0, 0)];
  expect(weightedOrder(uneven, () => 1 - Number.EPSILON / 2)[0]?.name).toBe('c');
  expect(weightedOrder([], () => 0)).toEqual([]);
});
