import { expect, test } from 'bun:test';
import type { Figures, GatewayResult } from './measures.ts';
import { betterOthers, medians, type Result, withRatios, writePage, writeTable } from './report.ts';

const figures = (factor: number): Figures => ({
  requestsPerSecond: 1000 / factor,
  cpuPerRequestUs: 20 * factor,
  loopCpuPerRequestUs: 18 * factor,
  cpuPerChunkUs: 4 * factor,
  pacedP99Ms: factor,
  addedP50Ms: 0.1 * factor,
  addedP99Ms: 0.2 * factor,
  addedFirstTokenP99Ms: 0.3 * factor,
  memoryIdleMb: 10 * factor,
  memoryStreamsMb: 20 * factor,
  memoryAfterMb: 20 * factor,
  memoryManyStreamsMb: 90 * factor,
  largestProcessMb: 15 * factor,
  lateFramesPercent: 0,
  coldStartSeconds: 0.01 * factor,
  harnessCores: 0.5,
  failures: 0,
});

const gateways: GatewayResult[] = [
  { name: 'nginx', title: 'nginx', version: '1.2', does: 'passes on', figures: figures(1), spread: [19, 22] },
  { name: 'modelport', title: 'Modelport', version: '0.1', does: 'bills', figures: figures(3), spread: [58, 66] },
];

const result: Result = {
  at: '2030-01-02T03:04:05.000Z',
  system: 'linux x64',
  cores: 2,
  rounds: 3,
  seconds: 5,
  baseline: { requestsPerSecond: 9000, p50Ms: 0.1, p99Ms: 0.5, firstTokenP99Ms: 0.6, lateFramesPercent: 0 },
  machine: { otherCores: 0.25, load: 1.5, loadBefore: 0.5 },
  gateways: withRatios(gateways),
  missing: ['Portkey could not be installed'],
};

test('medians are computed for each figure', () => {
  expect(medians([figures(1), figures(9), figures(2)])).toEqual(figures(2));
});

test('ratios refer to the reference, and without it there are none', () => {
  expect(withRatios(gateways)[1]?.ratios?.cpuPerRequestUs).toBeCloseTo(3);
  expect(withRatios(gateways.slice(1))[0]?.ratios).toBeUndefined();
});

test('an added latency below the noise has no ratio', () => {
  const [nginx, modelport] = gateways;
  if (!nginx || !modelport) throw new Error('both are there');
  const noisy = { ...nginx, figures: { ...nginx.figures, addedP50Ms: 0.01 } };
  expect(withRatios([noisy, modelport])[1]?.ratios?.addedP50Ms).toBeUndefined();
});

test('the table has a line per figure with the ratio in brackets, and lists what is missing', () => {
  const table = writeTable(result);
  expect(table).toMatch(/CPU per request, µs +20 +60 \(3\.00 x\)/);
  expect(table).toContain('9000 requests a second');
  expect(table).toContain('Load average 0.50 before the run, 1.50 after it. Other programs used 0.25 cores');
  expect(table).toContain('nginx 19 to 22, Modelport 58 to 66');
  expect(table).toMatch(/cold start to the first answer +0\.03 s +0\.2 s +met/);
  expect(table).toContain('Modelport 0.1: bills.');
  expect(table).toEndWith('Portkey could not be installed');
});

test('the page is a Markdown table with the command and the day', () => {
  const page = writePage(result);
  expect(page).toContain('| CPU per request, µs | 20 | 60 (3.00 x) |');
  expect(page).toContain('`npm run bench -- --write-docs` on 2030-01-02');
});

test('the report names what a gateway of others does better, and how it was set up', () => {
  const other: GatewayResult = {
    name: 'other',
    title: 'Other',
    version: '2.0',
    does: 'no key',
    settings: 'two workers',
    isOther: true,
    figures: { ...figures(3), cpuPerRequestUs: 59, memoryIdleMb: 29.9, requestsPerSecond: 200, failures: 1 },
    spread: [58, 61],
  };
  const compared = { ...result, gateways: [...result.gateways, other] };
  // 29.9 MB are printed as the 30 MB that they are compared with.
  expect(betterOthers(compared)).toEqual([
    'Better than Modelport 0.1:',
    '- Other: CPU per request, µs (59 against 60).',
  ]);
  const worse = { ...other, figures: figures(4) };
  expect(betterOthers({ ...result, gateways: [...result.gateways, worse] })).toContain('- Other: nothing.');
  expect(betterOthers(result)).toEqual([]);
  expect(writePage(compared)).toContain('## Where others are better\n\nBetter than Modelport 0.1:\n\n- Other: CPU');
  expect(writePage(compared)).toContain('- Other 2.0: no key. Settings: two workers.');
});
