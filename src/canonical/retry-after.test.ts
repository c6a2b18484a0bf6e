import { describe, expect, test } from 'bun:test';
import { retryAfterMs, waitMs } from './retry-after.ts';

const DATE = 'Tue, 05 May 2026 12:00:00 GMT';
const NOON = Date.UTC(2026, 4, 5, 12);
const of = (headers: { [name: string]: string }) => retryAfterMs((name) => headers[name], true);

describe('a wait', () => {
  test.each([
    ['12', 12_000],
    ['0.5', 500],
    ['1s', 1000],
    ['350ms', 350],
    ['6m0s', 360_000],
    ['1m30.5s', 90_500],
    ['2h', 7_200_000],
    [String(NOON / 1000 + 30), 30_000],
    [String(NOON + 30_000), 30_000],
    ['2026-05-05T12:00:07Z', 7000],
    ['Tue, 05 May 2026 12:00:20 GMT', 20_000],
    // A date that has passed.
    ['Tue, 05 May 2026 11:00:00 GMT', 0],
  ])('%s', (value, ms) => expect(waitMs(value, DATE)).toBe(ms));

  test.each(['', 'soon', '-3', 'Tue, 05 Mayo'])('%p has no result', (value) => {
    expect(waitMs(value, DATE)).toBeUndefined();
  });

  test('a date has no result without the date of the response', () => {
    expect(waitMs('2026-05-05T12:00:07Z', null)).toBeUndefined();
  });
});

describe('which header counts', () => {
  test('milliseconds, then retry-after, then the limit that is used up', () => {
    expect(of({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
    expect(of({ 'retry-after': '9', 'x-ratelimit-reset': '99' })).toBe(9000);
    expect(of({ date: DATE, 'retry-after': 'Tue, 05 May 2026 12:00:20 GMT' })).toBe(20_000);
    expect(
      of({
        'x-ratelimit-remaining-requests': '17',
        'x-ratelimit-reset-requests': '90s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '4s',
      }),
    ).toBe(4000);
    expect(of({ 'x-ratelimit-reset-requests': '90s', 'x-ratelimit-reset-tokens': '4s' })).toBe(4000);
    expect(of({ 'x-ratelimit-reset': '3' })).toBe(3000);
    expect(
      of({
        date: DATE,
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-05-05T12:00:11Z',
      }),
    ).toBe(11_000);
    expect(of({})).toBeUndefined();
    expect(retryAfterMs((name) => (name === 'x-ratelimit-reset' ? '3' : undefined), false)).toBeUndefined();
  });
});
