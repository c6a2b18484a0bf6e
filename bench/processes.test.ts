import { expect, test } from 'bun:test';
import { loopMicroseconds, processRows, readPsLine, readStat, spentBy, treeOf, treeUse } from './processes.ts';

test('a line of /proc/PID/stat is parsed, with brackets and spaces in the name', () => {
  const fields = [
    'S',
    '7',
    ...Array.from({ length: 9 }, () => '0'),
    '120',
    '30',
    ...Array.from({ length: 8 }, () => '0'),
  ];
  expect(readStat(`42 (a (b) c) ${fields.join(' ')} 100 0`)).toEqual({
    pid: 42,
    parent: 7,
    cpuMicroseconds: 1_500_000,
    endedMicroseconds: 0,
    residentBytes: 409_600,
  });
});

test('a line of ps is parsed', () => {
  expect(readPsLine('  12     1   1:02.50  20480')).toEqual({
    pid: 12,
    parent: 1,
    cpuMicroseconds: 62_500_000,
    endedMicroseconds: 0,
    residentBytes: 20_971_520,
  });
  expect(readPsLine('9 1 1-02:00:01 1').cpuMicroseconds).toBe(93_601_000_000);
});

test('a tree is a process with all its descendants', () => {
  const row = (pid: number, parent: number) => ({
    pid,
    parent,
    cpuMicroseconds: 1,
    endedMicroseconds: 10,
    residentBytes: pid * 1_000_000,
  });
  const rows = [row(1, 0), row(2, 1), row(3, 2), row(4, 1), row(5, 9)];
  expect(treeOf(1, rows).map(({ pid }) => pid)).toEqual([1, 2, 4, 3]);
  expect(treeUse(2, rows)).toEqual({ cpuMicroseconds: 2, residentMb: 5, largestMb: 3 });
  expect(spentBy(2, rows)).toBe(22);
});

test('this process is found, and uses memory', () => {
  expect(treeUse(process.pid, processRows()).residentMb).toBeGreaterThan(5);
  // The system counts in hundredths of a second; NaN where there is no /proc.
  const deadline = performance.now() + 30_000;
  while (loopMicroseconds(process.pid) === 0 && performance.now() < deadline);
  expect(loopMicroseconds(process.pid)).not.toBe(0);
});
