import { expect, test } from 'bun:test';
import { median, percentile } from './statistics.ts';

test('the median ignores the order and unmeasured values', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([Number.NaN, 7])).toBe(7);
  expect(median([])).toBeNaN();
});

test('a percentile is the nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, 0.5)).toBe(50);
  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile([3], 0.99)).toBe(3);
  expect(percentile([], 0.5)).toBeNaN();
});
