import { expect, test } from 'bun:test';
import type { Figures, GatewayResult, Windows } from './figures.ts';
import { quartiles, windowRatios, withRatios } from './ratios.ts';

const gateway = (name: string, cpuPerRequestUs: readonly number[], figures: Partial<Figures>): GatewayResult => ({
  ...{ name, title: name, version: '1', does: '' },
  figures: figures as Figures,
  windows: { cpuPerRequestUs } as Windows,
});

// The machine is half as fast in the second round; both medians are of that round or another one.
const nginx = gateway('nginx', [20, 40, 22], { cpuPerRequestUs: 22, totalCpuPerRequestUs: 25, coldStartSeconds: 0 });
const own = gateway('modelport', [60, 120, 88], {
  cpuPerRequestUs: 88,
  totalCpuPerRequestUs: 100,
  coldStartSeconds: 1,
});

test('a ratio of windows is the median of the ratios in each round', () => {
  expect(windowRatios(own, nginx, 'cpuPerRequestUs')).toEqual([3, 3, 4]);
  const [, measured] = withRatios([nginx, own]);
  expect(measured?.ratios?.cpuPerRequestUs).toBe(3);
});

test('what has no windows is divided as it is, and nothing by zero', () => {
  const [, measured] = withRatios([nginx, own]);
  expect(measured?.ratios?.totalCpuPerRequestUs).toBe(4);
  expect(measured?.ratios).not.toHaveProperty('coldStartSeconds');
  expect(measured?.ratios).not.toHaveProperty('addedP50Ms');
});

test('a gateway that did not take turns is compared with the median of the reference', () => {
  const other = gateway('other', [440], { cpuPerRequestUs: 440 });
  expect(windowRatios(other, nginx, 'cpuPerRequestUs')).toEqual([]);
  expect(withRatios([nginx, other])[1]?.ratios?.cpuPerRequestUs).toBe(20);
});

test('without the reference there are no ratios', () => {
  expect(withRatios([own])[0]?.ratios).toBeUndefined();
});

test('quartiles leave out what was not measured', () => {
  expect(quartiles([4, 1, Number.NaN, 3, 2])).toEqual([1, 3]);
});
