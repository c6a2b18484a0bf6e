import { expect, test } from 'bun:test';
import { hedgeDelayMs } from './hedge-delay.ts';
import { TimeHistogram } from './timings.ts';

function histogram(...samples: number[]): TimeHistogram {
  const times = new TimeHistogram();
  for (const sample of samples) times.add(sample);
  return times;
}

test('a second target is called after the time of 95 of 100 calls, in steps of 19 %', () => {
  const times = histogram(...Array(95).fill(100), ...Array(5).fill(9000));
  expect(hedgeDelayMs({ stream: true }, times, histogram())).toBeWithin(100, 120);
  expect(hedgeDelayMs({ stream: false }, histogram(), times)).toBeWithin(100, 120);
  const slow = histogram(...Array(90).fill(100), ...Array(10).fill(9000));
  expect(hedgeDelayMs({ stream: true }, slow, histogram())).toBeWithin(9000, 10_800);
});

test('with too few samples it is called late, and never at once', () => {
  const few = histogram(...Array(19).fill(1));
  expect(hedgeDelayMs({ stream: true }, few, histogram())).toBe(3000);
  expect(hedgeDelayMs({ stream: false }, few, few)).toBe(15_000);
  expect(hedgeDelayMs({ stream: true }, histogram(...Array(20).fill(1)), few)).toBe(20);
});
