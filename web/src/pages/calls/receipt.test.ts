import { expect, test } from 'bun:test';
import { translate } from '../../i18n/words.ts';
import { readMoved } from '../accounts/move-money.tsx';
import { fillBuckets } from '../home/buckets.ts';
import { lastsUntil } from '../home/lasts.ts';
import { stateOf } from '../keys/state.ts';
import { stepsOf } from '../overview/sums.ts';
import { barsOf } from './attempts.tsx';
import { statusOf } from './status.ts';
import { words } from './words.ts';

test('an attempt is a bar of waiting and one of streaming on the axis of the call, a failed one a single red bar', () => {
  expect(barsOf({ outcome: 'failed', startedMs: 0, durationMs: 410 }, 1000)).toEqual([
    { from: 0, length: 41, colour: 'var(--dot-bad)' },
  ]);
  expect(barsOf({ outcome: 'ok', startedMs: 450, firstTokenMs: 100, durationMs: 550 }, 1000)).toEqual([
    { from: 45, length: 10, colour: 'var(--before)' },
    { from: 55, length: 45, colour: 'var(--c1)' },
  ]);
  expect(barsOf({ outcome: 'ok', startedMs: 0, durationMs: 5 }, 0)).toHaveLength(2);
});

test('a call that needed a second attempt is a warning', () => {
  const t = translate(words, 'en');
  expect(statusOf({ outcome: 'ok', status: 200, attempts: 1 }, t)).toEqual({ s: 'ok', text: 'OK' });
  expect(statusOf({ outcome: 'ok', status: 200, attempts: 2 }, t)).toEqual({ s: 'warn', text: 'OK, try 2' });
  expect(statusOf({ outcome: 'failed', status: 502 }, t)).toEqual({ s: 'bad', text: 'Failed 502' });
});

test('the most urgent state of a key is shown', () => {
  const now = Date.parse('2026-11-22T08:00:00Z');
  const key = { id: 'k', account: 'a', kind: 'caller', name: 'n', last4: 'abcd', createdAt: '' } as const;
  expect(stateOf(key, now).word).toBe('active');
  expect(stateOf({ ...key, expiresAt: '2026-11-27T07:00:00Z' }, now)).toMatchObject({ word: 'expiresIn', n: 5 });
  expect(stateOf({ ...key, expiresAt: '2026-11-22T07:59:59Z' }, now).word).toBe('expired');
  const spent = { total: '1', day: '1', month: '222.60' };
  expect(stateOf({ ...key, budget: { month: '240' }, spent }, now)).toMatchObject({ word: 'budgetAt', n: 92 });
  expect(stateOf({ ...key, disabledAt: '2026-11-01T00:00:00Z', budget: { month: '240' }, spent }, now).word).toBe(
    'disabled',
  );
});

test('a balance lasts as long as the rate of the last day allows', () => {
  const now = Date.parse('2026-11-22T08:00:00Z');
  expect(lastsUntil('14.20', '14.20', now)).toEqual({ days: 1, until: new Date('2026-11-23T08:00:00Z') });
  expect(lastsUntil('14.20', '0', now)).toBeUndefined();
  expect(lastsUntil('1000', '1', now)).toBeUndefined();
});

test('only an adjustment may take money away, and nothing moves nothing', () => {
  expect(readMoved('-5', 'top-ups')).toBeUndefined();
  expect(readMoved('−5', 'adjustments')).toBe('-5');
  expect(readMoved('0.00', 'adjustments')).toBeUndefined();
});

test('steps of a chart: hours without calls are zero, each beside the one before', () => {
  const hour = 3_600_000;
  const group = {
    group: '',
    hour: new Date(hour).toISOString(),
    calls: 2,
    cost: '0.5',
    input_tokens: 0,
    output_tokens: 0,
    saved: '0',
  };
  expect(fillBuckets([group], 10, 2 * hour, hour)).toEqual([
    { at: 0, spend: 0, calls: 0 },
    { at: hour, spend: 0.5, calls: 2 },
    { at: 2 * hour, spend: 0, calls: 0 },
  ]);
  const figures = {
    calls: 3,
    failed: 0,
    spend: '0.25',
    saved: '0',
    tokens: { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    firstTokenMs: { p50: 100, p95: 200 },
  };
  const time = (hours: number) => new Date(hours * hour).toISOString();
  const steps = stepsOf({
    from: time(2),
    to: new Date(3.5 * hour).toISOString(),
    before: { from: time(0), to: time(1) },
    stepSeconds: 3600,
    current: figures,
    previous: figures,
    series: [{ at: time(3), ...figures }],
    previousSeries: [{ at: time(0), calls: 1, spend: '0.125' }],
    models: [],
    keys: [],
    accounts: [],
    holds: { open: 0, amount: '0' },
  });
  expect(steps).toEqual([
    { at: 2 * hour, spend: 0, calls: 0, before: 0.125, p50: null, p95: null },
    { at: 3 * hour, spend: 0.25, calls: 3, before: 0, p50: 100, p95: 200 },
  ]);
});
