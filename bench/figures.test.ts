import { expect, test } from 'bun:test';
import { type Baseline, baselineOf, figuresOf, type Sample, windowsOf } from './figures.ts';
import type { LoadReport } from './load.ts';

const report = (answers: number, p99Ms = 1): LoadReport => ({
  answers,
  failures: 1,
  seconds: 0.5,
  p50Ms: p99Ms / 2,
  p99Ms,
  firstByteP50Ms: 1,
  firstByteP99Ms: 5,
  chunks: 200,
  lateChunks: 1,
  mostStreams: 1,
});

const sample: Sample = {
  measured: {
    requests: [
      { ...report(1000), leadIn: report(500), allUs: 90_000, loopUs: 60_000, harnessUs: 250_000 },
      { ...report(1000), leadIn: report(500), allUs: 100_000, loopUs: 70_000, harnessUs: 250_000 },
      { ...report(2000), leadIn: report(1000), allUs: 240_000, loopUs: 160_000, harnessUs: 400_000 },
    ],
    totalUs: 660_000,
    chunks: [
      { chunks: 4000, allUs: 80_000, failures: 1 },
      { chunks: 0, allUs: 1000, failures: 1 },
    ],
    paced: [report(500, 4), report(500, 3), report(500, 8)],
  },
  alone: { streamed: report(400), held: report(500), memoryStreamsMb: 120, largestProcessMb: 110, memoryAfterMb: 90 },
};
const baseline: Baseline = {
  requestsPerSecond: 90_000,
  p50Ms: 0.5,
  p99Ms: 1,
  firstTokenP99Ms: 2,
  lateFramesPercent: 0,
};
const others = { coldStartSeconds: 0.2, memoryIdleMb: 70, memoryManyStreamsMb: 300 };

test('a figure is the median of its windows, the total is divided by all requests, also those before a window', () => {
  expect(figuresOf(sample, baseline, others)).toMatchObject({
    requestsPerSecond: 2000,
    cpuPerRequestUs: 100,
    loopCpuPerRequestUs: 70,
    totalCpuPerRequestUs: 110,
    cpuPerChunkUs: 20,
    pacedP99Ms: 4,
    addedP50Ms: 1.5,
    addedP99Ms: 3,
    addedFirstTokenP99Ms: 3,
    lateFramesPercent: 0.5,
    harnessCores: 0.5,
    failures: 13,
    ...others,
  });
});

test('a window without an answer has no cost of one', () => {
  expect(windowsOf(sample.measured).cpuPerChunkUs).toEqual([20, Number.NaN]);
});

test('the upstream is measured like a gateway', () => {
  const upstream = baselineOf(sample);
  expect(upstream).toEqual({ requestsPerSecond: 2000, p50Ms: 2, p99Ms: 4, firstTokenP99Ms: 5, lateFramesPercent: 0.5 });
});
