import { expect, test } from 'bun:test';
import { faultsOf, type SoakInterval, summary } from './soak.ts';

const interval = (memoryMb: number, changes: Partial<SoakInterval> = {}): SoakInterval => ({
  atSeconds: 30,
  memoryMb,
  calls: 6000,
  p50Ms: 1,
  p99Ms: 4,
  streams: 1500,
  chunks: 300_000,
  lateChunks: 0,
  failures: 0,
  gatewayCores: 0.3,
  otherCores: 0,
  load: 1,
  ...changes,
});
const steady = [140, 150, 151, 149, 150, 152, 150, 151].map((mb) => interval(mb));

test('a soak is good if memory stays, no chunk is late and no request fails', () => {
  expect(faultsOf(steady)).toEqual([]);
  expect(summary(steady)).toContain('memory 150.0 MB in the second quarter, 150.5 MB in the last');
});

test('the warm-up may take memory, the rest of the soak not', () => {
  const warming = [60, 90, 150, 150, 150, 150, 150, 150].map((mb) => interval(mb));
  expect(faultsOf(warming)).toEqual([]);
  const growing = [100, 105, 110, 115, 120, 125, 130, 135].map((mb) => interval(mb));
  expect(faultsOf(growing)).toEqual(['Memory grew from 112.5 to 132.5 MB from the second to the last quarter.']);
});

test('late chunks and failures are faults, and a soak that ended early', () => {
  const faulty = [...steady, interval(150, { lateChunks: 3, failures: 2 })];
  expect(faultsOf(faulty)).toEqual([
    '3 of 2700000 chunks arrived more than 50 ms after they were sent.',
    '2 requests failed.',
  ]);
  expect(faultsOf(steady.slice(0, 3))).toHaveLength(1);
});
