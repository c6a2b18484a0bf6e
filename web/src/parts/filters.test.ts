import { expect, test } from 'bun:test';
import { beginningOf, readPeriod, readSearch, spanOf, withFilter } from './filters.ts';

test('the address keeps the known filters that have a value', () => {
  expect(readSearch(['status', 'model', 'tag'], { status: 502, model: 'a b', tag: '', other: 'x' })).toEqual({
    status: '502',
    model: 'a b',
  });
});

test('a changed filter begins at the newest page, and an empty one is removed', () => {
  const search = { model: 'a', after: 'req_1' } as { model?: string; after?: string; status?: string };
  expect(withFilter(search, 'status', '502')).toEqual({ model: 'a', status: '502' });
  expect(withFilter(search, 'model', undefined)).toEqual({});
});

test('the period before has the same length', () => {
  const { from, to, before } = spanOf('7d', Date.parse('2026-11-22T08:00:00Z'));
  expect(to.getTime() - from.getTime()).toBe(from.getTime() - before.getTime());
  expect(from.toISOString()).toBe('2026-11-15T08:00:00.000Z');
  expect(readPeriod('2y', '24h')).toBe('24h');
  expect(readPeriod('90d', '24h')).toBe('90d');
});

test('figures begin with a whole hour or day', () => {
  const now = Date.parse('2026-11-22T08:20:00Z');
  expect(beginningOf('1h', now).toISOString()).toBe('2026-11-22T07:20:00.000Z');
  expect(beginningOf('24h', now).toISOString()).toBe('2026-11-21T09:00:00.000Z');
  expect(beginningOf('7d', now).toISOString()).toBe('2026-11-16T00:00:00.000Z');
  expect(beginningOf('90d', now).toISOString()).toBe('2026-08-25T00:00:00.000Z');
});
