import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from './canonical/time.ts';
import { createRetention } from './retention.ts';

const START = Date.UTC(2026, 10, 23);
const YEAR_MS = 365 * DAY_MS;

/** A machine whose wall clock is `ahead` of the true time. */
function machine(ahead = 0) {
  let passed = 0;
  const clock = {
    ahead,
    wait(ms: number) {
      passed += ms;
    },
    now: () => START + passed + clock.ahead,
    uptime: () => 5000 + passed,
  };
  return clock;
}

test('records are kept for so many days', () => {
  const clock = machine();
  const retention = createRetention(30, clock);
  for (let turn = 0; turn < 3; turn++) {
    clock.wait(HOUR_MS);
    // Corrected a little, as clocks are.
    clock.ahead += 500;
    expect(retention.keepFrom()).toBe(clock.now() - 30 * DAY_MS);
  }
});

test('without a limit nothing is removed', () => {
  expect(createRetention(0, machine()).keepFrom()).toBeUndefined();
});

test('a clock that jumps ahead removes nothing, nor when it comes back', () => {
  const clock = machine();
  const retention = createRetention(30, clock);
  clock.wait(HOUR_MS);
  clock.ahead = YEAR_MS;
  expect(retention.keepFrom()).toBeUndefined();
  clock.wait(HOUR_MS);
  clock.ahead = 0;
  expect(retention.keepFrom()).toBeUndefined();
  clock.wait(HOUR_MS);
  expect(retention.keepFrom()).toBe(clock.now() - 30 * DAY_MS);
});

test('a machine that starts with a wrong clock removes nothing until it is right', () => {
  const clock = machine(10 * YEAR_MS);
  const retention = createRetention(30, clock);
  clock.wait(60_000);
  clock.ahead = 0;
  clock.wait(HOUR_MS);
  expect(retention.keepFrom()).toBeUndefined();
  clock.wait(HOUR_MS);
  expect(retention.keepFrom()).toBe(clock.now() - 30 * DAY_MS);
});
