import { expect, test } from 'bun:test';
import type { CallRow } from '../../api/types.ts';
import { withCall } from './live.ts';

const call = (id: string, second: number) => ({ id, at: new Date(second * 1000).toISOString() }) as unknown as CallRow;
const page = { data: [call('c', 3), call('b', 2), call('a', 1)], hasMore: false, next: null };
const ids = ({ data }: { data: CallRow[] }) => data.map(({ id }) => id).join('');

test('a call that has ended stands where it began, once', () => {
  expect(ids(withCall(page, call('d', 4), 9))).toBe('dcba');
  expect(ids(withCall(page, call('x', 2.5), 9))).toBe('cxba');
  expect(ids(withCall(page, call('z', 0), 9))).toBe('cbaz');
  expect(ids(withCall(page, call('b', 2), 9))).toBe('cba');
});

test('a full page lets its oldest row go to the next', () => {
  expect(withCall(page, call('d', 4), 3)).toMatchObject({ hasMore: true, next: 'b' });
});
