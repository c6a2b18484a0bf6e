import { expect, test } from 'bun:test';
import { machineNow, otherCores, readBusy } from './machine.ts';

test('the busy time of a machine leaves out idle time, disks and guests', () => {
  const stat = 'cpu  10 1 5 1000 200 2 3 4 90 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n';
  expect(readBusy(stat)).toBe(25 * 10_000);
});

test('what others used is what the benchmark did not', () => {
  const from = { at: 1000, busyMicroseconds: 0, ownMicroseconds: 100 };
  const to = { at: 3000, busyMicroseconds: 3_000_000, ownMicroseconds: 1_000_100 };
  expect(otherCores(from, to)).toBe(1);
  expect(otherCores(from, { ...to, ownMicroseconds: 9_000_000 })).toBe(0);
});

test('this machine reports its processor time', () => {
  expect(machineNow().ownMicroseconds).toBeGreaterThanOrEqual(0);
});
