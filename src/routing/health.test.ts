import { expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import { createHealth, type Health, type Observation } from './health.ts';

const failed: Observation = { ok: false, error: new GatewayError('upstream_failed', 'It failed.') };
const limited = (retryAfterSeconds?: number): Observation => ({
  ok: false,
  error: new GatewayError('rate_limited', 'Too fast.', retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});
const ok: Observation = { ok: true };

function fail(health: Health, times: number, now: number): void {
  for (let i = 0; i < times; i++) health.observe('t', failed, now);
}

test('four failures in a row take nobody out, the fifth does for two seconds', () => {
  const health = createHealth();
  fail(health, 4, 0);
  expect(health.rest('t', 0)).toBeUndefined();
  fail(health, 1, 0);
  expect(health.rest('t', 0)).toEqual({ until: 2000, limited: false });
  expect(health.rest('t', 1999)).toBeDefined();
  expect(health.rest('t', 2000)).toBeUndefined();
  expect(health.rest('other', 0)).toBeUndefined();
});

test('failures count in a row only', () => {
  const health = createHealth();
  fail(health, 4, 0);
  health.observe('t', ok, 0);
  fail(health, 4, 0);
  expect(health.rest('t', 0)).toBeUndefined();
});

test('each further failure doubles the rest up to a minute, and one success ends it', () => {
  const health = createHealth();
  fail(health, 5, 0);
  let now = 0;
  const rests: number[] = [];
  for (let i = 0; i < 7; i++) {
    const until = health.rest('t', now)?.until ?? 0;
    rests.push(until - now);
    now = until;
    fail(health, 1, now);
  }
  expect(rests).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  health.observe('t', ok, now);
  expect(health.rest('t', now)).toBeUndefined();
  fail(health, 4, now);
  expect(health.rest('t', now)).toBeUndefined();
});

test('a crowd of calls that fail together begins one rest, not a long one', () => {
  const health = createHealth();
  fail(health, 100, 0);
  expect(health.rest('t', 0)?.until).toBe(2000);
});

test('a refusal of the request says nothing about health', () => {
  const health = createHealth();
  const refused: Observation = { ok: false, error: new GatewayError('upstream_refused', 'No.') };
  fail(health, 4, 0);
  for (let i = 0; i < 10; i++) health.observe('t', refused, 0);
  expect(health.rest('t', 0)).toBeUndefined();
  fail(health, 1, 0);
  expect(health.rest('t', 0)).toBeDefined();
});

test('a 429 with retry-after rests for that long, at most a minute, and a success does not shorten it', () => {
  const health = createHealth();
  health.observe('t', limited(7), 0);
  health.observe('t', ok, 100);
  expect(health.rest('t', 6999)).toEqual({ until: 7000, limited: true });
  expect(health.rest('t', 7000)).toBeUndefined();
  health.observe('t', limited(3600), 7000);
  expect(health.rest('t', 7000)).toEqual({ until: 67_000, limited: true });
});

test('a 429 without retry-after is a failure like others', () => {
  const health = createHealth();
  for (let i = 0; i < 4; i++) health.observe('t', limited(), 0);
  expect(health.rest('t', 0)).toBeUndefined();
  health.observe('t', limited(0), 0);
  expect(health.rest('t', 0)).toEqual({ until: 2000, limited: false });
});

test('a target no longer on sale is forgotten', () => {
  const health = createHealth();
  fail(health, 5, 0);
  health.keepOnly(new Set(['t']));
  expect(health.rest('t', 0)).toBeDefined();
  health.keepOnly(new Set());
  expect(health.rest('t', 0)).toBeUndefined();
});
