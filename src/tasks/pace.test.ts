import { expect, test } from 'bun:test';
import { afterFailure, nextLook } from './pace.ts';

test('intervals between polls grow to a limit and vary by a fifth', () => {
  const pauses = [0, 1, 2, 5, 50].map((looks) => nextLook(looks, 5000, 0.5));
  expect(pauses).toEqual([5000, 6500, 8450, 18_565, 30_000]);
  expect(nextLook(0, undefined, 0)).toBe(4000);
  expect(nextLook(0, undefined, 0.9999)).toBeLessThanOrEqual(6000);
  expect(nextLook(9, 60_000, 0.5)).toBe(60_000);
});

test('the delay doubles with each failure, up to five minutes', () => {
  expect([1, 2, 3, 30].map((failures) => afterFailure(failures, 0.5))).toEqual([2000, 4000, 8000, 300_000]);
});
