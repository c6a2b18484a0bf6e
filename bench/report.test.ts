import { expect, test } from 'bun:test';
import type { Figures, GatewayResult, Windows } from './figures.ts';
import { withRatios } from './ratios.ts';
import { betterOthers, type Result, writePage, writeTable } from './report.ts';

const figures = (factor: number): Figures => ({
  requestsPerSecond: 1000 / factor,
  cpuPerRequestUs: 20 * factor,
  loopCpuPerRequestUs: 18 * factor,
  totalCpuPerRequestUs: 22 * factor,
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

/** Five windows around the figures of the same factor. */
function windows(factor: number): Windows {
  const { requestsPerSecond, cpuPerRequestUs, loopCpuPerRequestUs, cpuPerChunkUs, pacedP99Ms } = figures(factor);
  const around = (value: number) => [0.8, 0.9, 1, 1.1, 1.2].map((share) => share * value);
  return {
    requestsPerSecond: around(requestsPerSecond),
    cpuPerRequestUs: around(cpuPerRequestUs),
    loopCpuPerRequestUs: around(loopCpuPerRequestUs),
    cpuPerChunkUs: around(cpuPerChunkUs),
    pacedP99Ms: around(pacedP99Ms),
  };
}

const gateway = (name: string, title: string, version: string, does: string, factor: number): GatewayResult => ({
  ...{ name, title, version, does },
  figures: figures(factor),
  windows: windows(factor),
});

const gateways = [
  gateway('nginx', 'nginx', '1.2', 'passes on', 1),
  gateway('modelport', 'Modelport', '0.1', 'bills', 3),
];

const result: Result = {
  at: '2030-01-02T03:04:05.000Z',
  system: 'linux x64',
  cores: 2,
  windows: 5,
  seconds: 5,
  baseline: { requestsPerSecond: 9000, p50Ms: 0.1, p99Ms: 0.5, firstTokenP99Ms: 0.6, lateFramesPercent: 0 },
  machine: { otherCores: 0.25, load: 1.5, loadBefore: 0.5 },
  gateways: withRatios(gateways),
  missing: ['Portkey could not be installed'],
};

test('the table has a line per figure with the ratio in brackets, and lists what is missing', () => {
  const table = writeTable(result);
  expect(table).toMatch(/CPU per request, µs +20 +60 \(3\.00 x\)/);
  expect(table).toContain('9000 requests a second');
  expect(table).toContain('Load average 0.50 before the run, 1.50 after it. Other programs used 0.25 cores');
  expect(table).toMatch(/CPU per request +18\.0 to 22\.0 µs +3\.00 to 3\.00 x/);
  expect(table).toMatch(/cold start to the first answer +0\.03 s +0\.2 s +met/);
  expect(table).toContain('Modelport 0.1: bills.');
  expect(table).toEndWith('Portkey could not be installed');
});

test('the page is a Markdown table with the command and the day', () => {
  const page = writePage(result);
  expect(page).toContain('| CPU per request, µs | 20 | 60 (3.00 x) |');
  expect(page).toContain('`npm run bench -- --write-docs` on 2030-01-02');
  expect(page).toContain('| p99 at 200 requests a second | 0.90 to 1.10 ms | 3.00 to 3.00 x |');
});

test('without a reference the spread is that of the figures themselves', () => {
  const alone = { ...result, gateways: withRatios(gateways.slice(1)) };
  expect(writeTable(alone)).toMatch(/CPU per request +54\.0 to 66\.0 µs/);
});

test('the report names what a gateway of others does better, and how it was set up', () => {
  const other: GatewayResult = {
    ...gateway('other', 'Other', '2.0', 'no key', 3),
    settings: 'two workers',
    isOther: true,
    figures: { ...figures(3), cpuPerRequestUs: 59, memoryIdleMb: 29.9, requestsPerSecond: 200, failures: 1 },
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
