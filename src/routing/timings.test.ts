import { expect, test } from 'bun:test';
import type { Call } from '../canonical/call.ts';
import { answerLimitMs } from './attempt-limits.ts';
import { MovingAverage, TimeHistogram } from './timings.ts';

function histogram(times: number, ms: number): TimeHistogram {
  const all = new TimeHistogram();
  for (let i = 0; i < times; i++) all.add(ms);
  return all;
}

const call = (kind: string, stream: boolean) => ({ kind, stream }) as Call;
const none = new TimeHistogram();

test('percentiles are within a step of 19 % of the exact value', () => {
  const all = new TimeHistogram();
  for (let ms = 1; ms <= 500; ms++) all.add(ms);
  for (const [share, truth] of [
    [0.5, 250],
    [0.95, 475],
    [0.99, 495],
  ] as const) {
    const measured = all.percentile(share) ?? 0;
    expect(measured).toBeGreaterThanOrEqual(truth);
    expect(measured).toBeLessThanOrEqual(truth * 1.19);
  }
});

test('old samples fade: after a thousand fast ones the earlier slow ones do not count', () => {
  const all = histogram(400, 20_000);
  for (let i = 0; i < 4000; i++) all.add(100);
  expect(all.percentile(0.99) ?? 0).toBeLessThan(200);
});

test('an average follows, and counts half after 30 seconds without a sample', () => {
  const average = new MovingAverage();
  average.add(1000, 0);
  average.add(2000, 0);
  expect(average.measured).toBe(1200);
  expect(average.aged(30_000)).toBe(600);
  expect(average.aged(0)).toBe(1200);
});

test.each([
  ['a stream of which nothing is known', call('chat', true), none, none, 30_000],
  ['a fast target', call('chat', true), histogram(100, 900), none, 5000],
  ['one that takes 4 s', call('chat', true), histogram(100, 4096), none, 8192],
  ['one that takes 25 s', call('chat', true), histogram(100, 25_000), none, 30_000],
  ['whole responses of which nothing is known', call('chat', false), none, none, 30_000],
  ['whole responses that take a minute', call('chat', false), none, histogram(3, 65_536), 131_072],
  ['an image', call('image', false), none, none, undefined],
  ['a transcription', call('transcription', false), none, none, undefined],
])('the time until %s begins', (_, call, firstTokens, wholes, ms) => {
  expect(answerLimitMs(call, undefined, firstTokens, wholes)).toBe(ms as number);
});

test('an operator’s own limit counts', () => {
  expect(answerLimitMs(call('image', false), 90_000, none, none)).toBe(90_000);
});
