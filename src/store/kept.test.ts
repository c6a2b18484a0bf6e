import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { NewResponseRow } from './kept.ts';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 4, 5, 12);
const MONTH = 30 * DAY;

const response = (id: string, more: Partial<NewResponseRow> = {}): NewResponseRow => ({
  id,
  account: 'acc_1',
  at: NOON,
  expiresAt: NOON + MONTH,
  input: '[{"id":"in"}]',
  output: '[{"id":"out"}]',
  reply: '{"status":"completed"}',
  items: [`${id}_in`, `${id}_out`],
  ...more,
});

const ids = (rows: readonly { id: string }[]) => rows.map((row) => row.id);

describe.each(ENGINES)('stored conversations over $name', (engine) => {
  test('a response is found only with its own account and exact id', async () => {
    const kept = (await freshStore(engine)).store.kept;
    const { items: _, ...row } = response('resp_1', { owner: 'openai', reply: '{"text":"😀 \\u0000"}' });
    await kept.keep([{ ...row, items: [] }], []);
    expect(await kept.response('acc_1', 'resp_1', NOON)).toEqual(row);
    expect(await kept.response('acc_2', 'resp_1', NOON)).toBeUndefined();
    expect(await kept.response('acc_1', 'resp_2', NOON)).toBeUndefined();
    expect(await kept.response('acc_1', 'resp_1', NOON + MONTH)).toBeUndefined();
  });

  test('a chain is returned oldest first, and branches stay separate', async () => {
    const kept = (await freshStore(engine)).store.kept;
    await kept.keep([response('a'), response('b', { previous: 'a' }), response('c', { previous: 'b' })], []);
    await kept.keep([response('d', { previous: 'b' })], []);
    expect(ids(await kept.responseChain('acc_1', 'c', NOON))).toEqual(['a', 'b', 'c']);
    expect(ids(await kept.responseChain('acc_1', 'd', NOON))).toEqual(['a', 'b', 'd']);
    expect(await kept.responseChain('acc_2', 'd', NOON)).toEqual([]);
  });

  test('a deleted response is not found, but responses that continue it keep its items', async () => {
    const kept = (await freshStore(engine)).store.kept;
    await kept.keep([response('a'), response('b', { previous: 'a' })], []);
    expect(await kept.forgetResponse('acc_2', 'a', NOON)).toBe(false);
    expect(await kept.forgetResponse('acc_1', 'a', NOON)).toBe(true);
    expect(await kept.forgetResponse('acc_1', 'a', NOON)).toBe(false);
    expect(await kept.response('acc_1', 'a', NOON)).toBeUndefined();
    expect(await kept.responseChain('acc_1', 'a', NOON)).toEqual([]);
    expect(await kept.responsesWith('acc_1', ['a_out'], NOON)).toEqual([]);
    await kept.sweepKept(NOON, 10);
    expect(ids(await kept.responseChain('acc_1', 'b', NOON))).toEqual(['a', 'b']);
    expect(await kept.forgetResponse('acc_1', 'b', NOON)).toBe(true);
    await kept.sweepKept(NOON, 10);
    await kept.keep([response('c', { previous: 'a' })], []);
    expect(ids(await kept.responseChain('acc_1', 'c', NOON))).toEqual(['c']);
  });

  test('a conversation keeps its first items after their retention while it is continued', async () => {
    const kept = (await freshStore(engine)).store.kept;
    await kept.keep([response('a')], []);
    const at = NOON + 20 * DAY;
    await kept.keep([response('b', { previous: 'a', at, expiresAt: at + MONTH })], []);
    const later = NOON + 45 * DAY;
    expect(await kept.sweepKept(later, 10)).toBe(false);
    expect(await kept.response('acc_1', 'a', later)).toBeUndefined();
    expect(ids(await kept.responseChain('acc_1', 'b', later))).toEqual(['a', 'b']);
    await kept.sweepKept(at + MONTH + DAY, 10);
    expect(await kept.responseChain('acc_1', 'b', later)).toEqual([]);
  });

  test('items are found in the last response that contained them', async () => {
    const kept = (await freshStore(engine)).store.kept;
    await kept.keep([response('a', { items: ['x', 'y'] }), response('b', { items: ['y', 'z'] })], []);
    expect(ids(await kept.responsesWith('acc_1', ['x', 'y', 'nowhere'], NOON)).sort()).toEqual(['a', 'b']);
    expect(ids(await kept.responsesWith('acc_1', ['y'], NOON))).toEqual(['b']);
    expect(await kept.responsesWith('acc_2', ['y'], NOON)).toEqual([]);
    expect(await kept.responsesWith('acc_1', ['y'], NOON + MONTH)).toEqual([]);
  });

  test('signatures are found until they expire; the newest of a key is used; above the limit the oldest are removed first', async () => {
    const kept = (await freshStore(engine)).store.kept;
    const signature = (key: string, hours: number, body = key) => ({
      account: 'acc_1',
      key,
      expiresAt: NOON + hours * 3_600_000,
      body,
    });
    await kept.keep([], [signature('k1', 1), signature('k2', 2), signature('k3', 3)]);
    await kept.keep([], [signature('k1', 4, 'anew')]);
    expect(await kept.signatures('acc_1', ['k1', 'k2', 'nowhere'], NOON)).toContainEqual(signature('k1', 4, 'anew'));
    expect(await kept.signatures('acc_2', ['k1'], NOON)).toEqual([]);
    expect(await kept.signatures('acc_1', ['k2'], NOON + 2 * 3_600_000)).toEqual([]);
    await kept.sweepKept(NOON, 2);
    const left = await kept.signatures('acc_1', ['k1', 'k2', 'k3'], NOON);
    expect(left.map(({ key }) => key).sort()).toEqual(['k1', 'k3']);
  });

  test('a sweep removes a limited number of rows and reports whether there are more', async () => {
    const kept = (await freshStore(engine)).store.kept;
    const many = Array.from({ length: 250 }, (_, index) => response(`r${index}`));
    await kept.keep(many, []);
    const late = NOON + 2 * MONTH;
    expect(await kept.sweepKept(late, 10)).toBe(true);
    expect(await kept.sweepKept(late, 10)).toBe(false);
  });
});
