import { expect, test } from 'bun:test';
import type { Figures, GatewayResult, Windows } from './figures.ts';
import { isMet, targetRows, targetsOf } from './targets.ts';

const gateway = (name: string, figures: Partial<Figures>, ratios: Partial<Figures> = {}): GatewayResult => ({
  name,
  title: name,
  version: '1',
  does: '',
  figures: figures as Figures,
  windows: {} as Windows,
  ratios,
});

const find = (gateways: readonly GatewayResult[], label: string) => {
  const target = targetsOf(gateways, 2).find((one) => one.label.startsWith(label));
  if (!target) throw new Error(`no target ${label}`);
  return target;
};

test('a target is met at its bound and missed above it; what was not measured is reported as such', () => {
  const met = gateway('modelport', { coldStartSeconds: 0.2 }, { cpuPerRequestUs: 3, totalCpuPerRequestUs: 3.81 });
  expect(isMet(find([met], 'cold start'))).toBe(true);
  expect(isMet(find([met], 'request, same format, all threads'))).toBe(true);
  expect(isMet(find([met], 'request, same format, with what runs'))).toBe(false);
  const rows = targetRows(targetsOf([met], 2));
  expect(rows).toContainEqual(['cold start to the first answer', '0.20 s', '0.2 s', 'met']);
  expect(rows).toContainEqual([
    'request, same format, with what runs between windows',
    '3.81 x nginx',
    '3.8 x nginx',
    'missed',
  ]);
  expect(rows).toContainEqual(['memory at 500 streams', '-', '100 MB', 'not measured']);
});

test('two processes are scaled to the cores that the load takes', () => {
  const gateways = [
    gateway('modelport', { requestsPerSecond: 5000 }),
    gateway('modelport-two', { requestsPerSecond: 6000, harnessCores: 0.5 }),
  ];
  expect(find(gateways, '2 processes').measured).toBeCloseTo(1.6);
  expect(isMet(find(gateways, '2 processes'))).toBe(false);
});
