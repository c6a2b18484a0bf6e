import { expect, test } from 'bun:test';
import { cpuClock, readSchedstat, sumOf } from './cpu-clock.ts';
import { PROCESS_SOURCE } from './processes.ts';

test('the first number of schedstat is the time on a processor in nanoseconds', () => {
  expect(readSchedstat('1234567 890 12\n')).toBe(1234.567);
});

test('the event loop is the main threads alone', () => {
  const threads = [
    { microseconds: 5, isMain: true },
    { microseconds: 3, isMain: false },
    { microseconds: 2, isMain: true },
  ];
  expect(sumOf(threads)).toEqual({ allUs: 10, loopUs: 7 });
});

test("a clock counts this process's work", () => {
  const clock = cpuClock(process.pid);
  const before = clock();
  const deadline = performance.now() + 30_000;
  while (clock().allUs - before.allUs < 20_000 && performance.now() < deadline);
  const after = clock();
  expect(after.allUs - before.allUs).toBeGreaterThanOrEqual(20_000);
  // NaN where there is no /proc.
  expect(after.loopUs).not.toBe(0);
});

test('a process that has ended keeps what it had', async () => {
  const child = Bun.spawn([process.execPath, '-e', 'process.stdin.resume()'], { stdin: 'pipe', stdout: 'ignore' });
  const clock = cpuClock(child.pid);
  const deadline = performance.now() + 30_000;
  while (clock().allUs === 0 && performance.now() < deadline) await Bun.sleep(1);
  const { allUs } = clock();
  child.stdin.end();
  await child.exited;
  expect(clock().allUs).toBeGreaterThanOrEqual(PROCESS_SOURCE === 'proc' ? allUs : 0);
});
