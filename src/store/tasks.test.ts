import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { TaskRow } from './tasks.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const LEASE_MS = 60_000;
const UNTIL = NOON + LEASE_MS;

const task = (id: string, more: Partial<TaskRow> = {}): TaskRow => ({
  id,
  account: 'acc_1',
  createdAt: NOON,
  dueAt: NOON,
  body: `{"id":"${id}"}`,
  ...more,
});

describe.each(ENGINES)('the tasks over $name', (engine) => {
  test('an inserted task is leased to its creator, readable by id, with its request stored separately', async () => {
    const { store } = await freshStore(engine);
    const row = task('t', { request: '{"images":[]}' });
    expect(await store.tasks.insert(row, 'w1', UNTIL)).toEqual(task('t'));
    expect(await store.tasks.task('t')).toEqual(task('t'));
    expect(await store.tasks.request('t')).toBe('{"images":[]}');
    expect(await store.tasks.task('other')).toBeUndefined();
    const many = Array.from({ length: 1200 }, (_, number) => `no${number}`);
    expect(await store.tasks.known([...many, 't'])).toEqual(new Set(['t']));
    expect(await store.tasks.known([])).toEqual(new Set());
    expect(await store.tasks.claim('w2', NOON + 1, UNTIL, 10)).toEqual([]);
    await expect(store.tasks.insert(row, 'w1', UNTIL)).rejects.toThrow('already exists');
    await store.close();
  });

  test('an idempotency key identifies one task of its account, and is independent of other accounts', async () => {
    const { store } = await freshStore(engine);
    const first = task('a', { idempotencyKey: 'k' });
    await store.tasks.insert(first, 'w1', UNTIL);
    expect(await store.tasks.insert(task('b', { idempotencyKey: 'k' }), 'w1', UNTIL)).toEqual(first);
    const others = task('c', { idempotencyKey: 'k', account: 'acc_2' });
    expect(await store.tasks.insert(others, 'w1', UNTIL)).toEqual(others);
    expect(await store.tasks.taskByKey('acc_1', 'k')).toEqual(first);
    expect(await store.tasks.task('b')).toBeUndefined();
    await store.close();
  });

  test('many concurrent claims give each task to one worker, longest due first', async () => {
    const { store } = await freshStore(engine);
    for (let made = 0; made < 40; made++) {
      await store.tasks.insert(task(`t${made}`, { dueAt: NOON - made }), 'maker', NOON - 1);
    }
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, worker) => store.tasks.claim(`w${worker}`, NOON, UNTIL, 5)),
    );
    const claimed = claims.flat().map(({ id }) => id);
    expect(new Set(claimed).size).toBe(claimed.length);
    // Workers that lost a row to another got fewer.
    for (let more = [1]; more.length > 0; ) {
      const rows = await store.tasks.claim('late', NOON, UNTIL, 5);
      for (const { id } of rows) expect(claimed).not.toContain(id);
      claimed.push(...rows.map(({ id }) => id));
      more = rows.map(() => 1);
    }
    expect(claimed).toHaveLength(40);
    expect(await store.tasks.claim('next', UNTIL, UNTIL + LEASE_MS, 1)).toMatchObject([{ id: 't39' }]);
    await store.close();
  });

  test('a worker that has lost its lease can neither save nor extend', async () => {
    const { store } = await freshStore(engine);
    await store.tasks.insert(task('t'), 'w1', UNTIL);
    expect(await store.tasks.extend('t', 'w1', UNTIL + 1)).toBe(true);
    expect(await store.tasks.claim('w2', UNTIL, UNTIL + LEASE_MS, 1)).toEqual([]);
    expect(await store.tasks.claim('w2', UNTIL + 1, UNTIL + LEASE_MS, 1)).toHaveLength(1);
    const change = { body: '{"by":"w1"}', dueAt: NOON, release: true };
    expect(await store.tasks.save('t', 'w1', change)).toBe(false);
    expect(await store.tasks.extend('t', 'w1', UNTIL)).toBe(false);
    expect(await store.tasks.take('t', 'w3', UNTIL + 2, UNTIL + LEASE_MS)).toBe(false);
    expect(await store.tasks.task('t')).toEqual(task('t'));
    expect(await store.tasks.save('t', 'w2', { ...change, body: '{"by":"w2"}' })).toBe(true);
    expect(await store.tasks.take('t', 'w3', UNTIL + 2, UNTIL + LEASE_MS)).toBe(true);
    await store.close();
  });

  test('releasing the tasks of dead workers lets others claim them, and the dead workers can no longer save', async () => {
    const { store } = await freshStore(engine);
    for (const [id, worker] of [
      ['a', 'dead'],
      ['b', 'dead'],
      ['c', 'killed'],
      ['d', 'alive'],
    ] as const)
      await store.tasks.insert(task(id), worker, UNTIL);
    expect((await store.tasks.workers()).sort()).toEqual(['alive', 'dead', 'killed']);
    await store.tasks.releaseOf(['dead', 'killed', 'nobody']);
    expect(await store.tasks.workers()).toEqual(['alive']);
    expect(await store.tasks.save('a', 'dead', { body: '{}', dueAt: NOON, release: true })).toBe(false);
    const claimed = await store.tasks.claim('heir', NOON, UNTIL, 9);
    expect(claimed.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
    await store.close();
  });

  test('a save keeps or ends the lease, removes the request, and sets the next due time', async () => {
    const { store } = await freshStore(engine);
    await store.tasks.insert(task('t', { request: 'r' }), 'w1', UNTIL);
    await store.tasks.save('t', 'w1', { body: '{}', dueAt: NOON, release: false });
    expect(await store.tasks.request('t')).toBe('r');
    expect(await store.tasks.claim('w2', NOON, UNTIL, 1)).toEqual([]);
    await store.tasks.save('t', 'w1', { body: '{}', dueAt: NOON + 5, release: true, dropRequest: true });
    expect(await store.tasks.request('t')).toBeUndefined();
    expect(await store.tasks.claim('w2', NOON + 4, UNTIL, 1)).toEqual([]);
    expect(await store.tasks.claim('w2', NOON + 5, UNTIL, 1)).toMatchObject([{ id: 't', dueAt: NOON + 5 }]);
    await store.tasks.save('t', 'w2', { body: '{}', dueAt: undefined, release: true });
    expect(await store.tasks.claim('w2', UNTIL * 2, UNTIL * 3, 1)).toEqual([]);
    await store.tasks.remove('t');
    expect(await store.tasks.task('t')).toBeUndefined();
    await store.close();
  });

  test('tasks are listed by account, newest or oldest first, after an id', async () => {
    const { store } = await freshStore(engine);
    for (const id of ['a', 'b', 'c', 'd']) {
      // Two have the same time.
      const createdAt = NOON + ['a', 'b', 'b', 'c'].indexOf(id === 'c' ? 'b' : id === 'd' ? 'c' : id);
      await store.tasks.insert(task(id, { createdAt }), 'w1', UNTIL);
    }
    await store.tasks.insert(task('x', { account: 'acc_2' }), 'w1', UNTIL);
    const ids = async (page: { limit: number; after?: string; oldestFirst?: boolean }) =>
      (await store.tasks.tasks('acc_1', page)).map(({ id }) => id).join('');
    expect(await ids({ limit: 9 })).toBe('dcba');
    expect(await ids({ limit: 2 })).toBe('dc');
    expect(await ids({ limit: 2, after: 'c' })).toBe('ba');
    expect(await ids({ limit: 9, after: 'b', oldestFirst: true })).toBe('cd');
    await store.close();
  });

  test('an account’s webhook secret is created once', async () => {
    const { store } = await freshStore(engine);
    const secrets = await Promise.all([1, 2, 3].map(() => store.tasks.webhookSecret('acc_1')));
    expect(new Set(secrets).size).toBe(1);
    expect(secrets[0]).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(await store.tasks.webhookSecret('acc_2')).not.toBe(secrets[0] ?? '');
    await store.close();
  });
});
