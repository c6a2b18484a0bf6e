import { expect, test } from 'bun:test';
import { newId, newTimedId } from './id.ts';

test('an id has its prefix and the requested number of characters, and is unique', () => {
  const ids = Array.from({ length: 2000 }, () => newId('x_'));
  for (const id of ids) expect(id).toMatch(/^x_[0-9A-Za-z]{24}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(newId('', 48)).toMatch(/^[0-9A-Za-z]{48}$/);
});

test('every character is equally frequent', () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 1000; i++) for (const one of newId('', 62)) counts.set(one, (counts.get(one) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // 1000 of each are expected; nine standard deviations cannot be chance.
  for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(300);
});

test('timed ids sort by time', () => {
  const earlier = newTimedId('req_', 1_760_000_000_000);
  expect(earlier).toMatch(/^req_[0-9a-z]{8}[0-9A-Za-z]{16}$/);
  expect(newTimedId('req_', 1_760_000_000_001) > earlier).toBe(true);
});
