import { edenGC, fullGC, heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { type Placed, PlacedSet } from './placed-set.ts';

const members = (count: number) => Array.from({ length: count }, () => ({ place: -1 }));

test('members leave in any order, each once', () => {
  const set = new PlacedSet<Placed>();
  const [a, b, c] = members(3) as [Placed, Placed, Placed];
  for (const one of [a, b, c]) set.add(one);
  expect(set.size).toBe(3);
  set.delete(a);
  set.delete(a);
  expect(new Set(set.all())).toEqual(new Set([b, c]));
  set.delete(c);
  expect(set.all()).toEqual([b]);
  set.delete(b);
  set.delete(b);
  expect([set.size, a.place, b.place, c.place]).toEqual([0, -1, -1, -1]);
  set.add(a);
  expect(set.all()).toEqual([a]);
});

test('who leaves while all are visited is visited', () => {
  const set = new PlacedSet<Placed>();
  for (const one of members(5)) set.add(one);
  let visited = 0;
  for (const one of set.all()) {
    visited++;
    set.delete(one);
  }
  expect([visited, set.size]).toEqual([5, 0]);
});

test('members that have left do not survive the next collection, as those of an old Set do', () => {
  const set = new PlacedSet<Placed>();
  const comeAndGo = (times: number) => {
    for (let i = 0; i < times; i++) {
      const round = members(20);
      for (const one of round) set.add(one);
      for (const one of round) set.delete(one);
    }
  };
  comeAndGo(50);
  fullGC();
  const before = objects();
  comeAndGo(1000);
  edenGC();
  expect(objects() - before).toBeLessThan(5000);
});

const objects = () => heapStats().objectTypeCounts.Object ?? 0;
