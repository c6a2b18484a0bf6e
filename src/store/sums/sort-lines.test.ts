import { expect, test } from 'bun:test';
import { sortedInParts } from './sort-lines.ts';

test('lines are sorted as by sort, equal ones in the order that they had', async () => {
  for (const length of [0, 1, 2, 3, 4, 5, 9, 100, 101]) {
    const lines = Array.from({ length }, (_, at) => ({ at, name: (at * 7919) % 13 }));
    const given = [...lines];
    const byName = (a: { name: number }, b: { name: number }) => a.name - b.name;
    expect(await sortedInParts(lines, byName, 3)).toEqual([...lines].sort(byName));
    expect(lines).toEqual(given);
  }
});
