import { beforeAll, describe, expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { DAY_MS } from '../canonical/time.ts';
import type { Audit, CallRow, KeyRow, LedgerStep } from './rows.ts';
import type { Store } from './store.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const key = (id: string, account: string): KeyRow => ({
  id,
  account,
  kind: 'caller',
  name: id,
  hash: `hash-${id}`,
  last4: 'last',
  createdAt: NOON,
});
const call = (id: string, account: string, key: string, at: number): CallRow => callRow({ id, at, account, key });
const hold = (callId: string, account: string, keyId: string, amount: bigint, at: number): LedgerStep => ({
  type: 'hold',
  hold: { callId, account, key: keyId, amount, model: 'm', priceId: 'p', at, owner: 'o' },
  accountBudget: { total: 1000n, day: 300n },
});

const settled = (work: Promise<unknown>) => work.catch((thrown: unknown) => thrown);

describe.each(ENGINES)('limits over $name', (engine) => {
  let store: Store;
  beforeAll(async () => {
    ({ store } = await freshStore(engine));
  });
  async function newAccount(id: string, balance: bigint): Promise<void> {
    await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: NOON });
    await store.ledger([{ type: 'enter', account: id, kind: 'top-up', amount: balance, counter: 'cash', at: NOON }]);
  }

  test('an account enters no price group that is removed at that moment: it would be charged list prices', async () => {
    await newAccount('acc_group', 1n);
    const entered = store.updateAccount('acc_group', { priceGroup: 'none' });
    expect(await settled(entered)).toMatchObject({ code: 'not_found', param: 'priceGroup' });
    const account = { id: 'acc_new', name: 'new', balance: 0n, held: 0n, createdAt: NOON, priceGroup: 'none' };
    expect(await settled(store.createAccount(account))).toMatchObject({ code: 'not_found' });
    for (let round = 0; round < 20; round++) {
      await store.savePriceGroup({ name: 'resellers', factor: '2', createdAt: NOON });
      const change = () => store.updateAccount('acc_group', { priceGroup: 'resellers' });
      const removal = () => store.removePriceGroup('resellers');
      await Promise.all((round % 2 === 0 ? [change, removal] : [removal, change]).map((one) => settled(one())));
      const { priceGroup, priceFactor } = (await store.account('acc_group')) ?? {};
      expect(priceFactor).toBe(priceGroup === undefined ? undefined : '2');
      await store.updateAccount('acc_group', { priceGroup: null });
    }
  });

  test('the budget of an account limits all its keys together, by day and in total', async () => {
    await newAccount('acc_1', 10_000n);
    const [first, second] = await store.ledger([
      hold('c1', 'acc_1', 'k1', 200n, NOON),
      hold('c2', 'acc_1', 'k2', 101n, NOON),
    ]);
    expect(first).toEqual({ type: 'held' });
    expect(second).toEqual({ type: 'refused', why: 'budget_exhausted', of: 'account', available: 100n });
    await store.ledger([{ type: 'resolve', callId: 'c1', amount: 150n, call: call('c1', 'acc_1', 'k1', NOON) }]);
    expect(await store.accountSpending('acc_1', NOON)).toEqual({ total: 150n, day: 150n, month: 150n });
    expect(await store.ledger([hold('c3', 'acc_1', 'k2', 150n, NOON)])).toEqual([{ type: 'held' }]);
    await store.ledger([{ type: 'resolve', callId: 'c3', amount: 150n, call: call('c3', 'acc_1', 'k2', NOON) }]);
    expect(await store.ledger([hold('c4', 'acc_1', 'k2', 1n, NOON)])).toMatchObject([{ available: 0n }]);
    expect(await store.ledger([hold('c5', 'acc_1', 'k2', 300n, NOON + DAY_MS)])).toEqual([{ type: 'held' }]);
    await store.ledger([{ type: 'resolve', callId: 'c5', amount: 0n, call: call('c5', 'acc_1', 'k2', NOON + DAY_MS) }]);
    expect(await store.accountSpending('acc_1', NOON + DAY_MS)).toEqual({ total: 300n, day: 0n, month: 300n });
    expect(await store.verify()).toMatchObject({ ok: true, faults: [] });
  });

  test('a clock an hour ahead at the end of a month neither resets budgets nor uses those of the next month', async () => {
    await newAccount('acc_late', 10_000n);
    const end = Date.UTC(2026, 1, 28, 23, 30);
    const ahead = end + 3_600_000;
    const spend = async (id: string, amount: bigint, at: number) => {
      expect(await store.ledger([hold(id, 'acc_late', 'k_late', amount, at)])).toEqual([{ type: 'held' }]);
      await store.ledger([{ type: 'resolve', callId: id, amount, call: call(id, 'acc_late', 'k_late', at) }]);
    };
    await spend('l1', 200n, end);
    await spend('l2', 50n, ahead);
    // The clock is correct again: the spending of the true day is kept, at first by counting both days.
    const refused = { type: 'refused', why: 'budget_exhausted', of: 'account', available: 50n };
    for (const second of [2, 30, 63, 70]) {
      const late = end + second * 1000;
      expect(await store.ledger([hold('l3', 'acc_late', 'k_late', 51n, late)])).toMatchObject([refused]);
      expect(await store.accountSpending('acc_late', late)).toEqual({ total: 250n, day: 250n, month: 250n });
      expect(await store.keySpending('k_late', late)).toEqual({ total: 250n, day: 250n, month: 250n });
    }
    await spend('l4', 50n, end + 71_000);
    // The next day starts with what was booked on it while the clock was wrong.
    await spend('l5', 10n, ahead);
    expect(await store.accountSpending('acc_late', ahead)).toEqual({ total: 310n, day: 60n, month: 60n });
    expect(await store.keySpending('k_late', ahead)).toEqual({ total: 310n, day: 60n, month: 60n });
    expect(await store.verify()).toMatchObject({ ok: true, faults: [] });
  });

  test('limits of an account are changed member by member', async () => {
    await newAccount('acc_2', 1n);
    const limits = { disabledAt: NOON, budget: { day: 5n }, requestsPerMinute: 3, tokensPerMinute: 4, concurrency: 2 };
    expect(await store.updateAccount('acc_2', limits)).toMatchObject(limits);
    const after = await store.updateAccount('acc_2', { disabledAt: null, budget: { total: 9n }, concurrency: null });
    expect(after).toEqual({
      id: 'acc_2',
      name: 'acc_2',
      balance: 1n,
      held: 0n,
      createdAt: NOON,
      budget: { total: 9n },
      requestsPerMinute: 3,
      tokensPerMinute: 4,
    });
    expect(await store.account('acc_2')).toEqual(after);
    expect(await store.updateAccount('nobody', { name: 'x' })).toBeUndefined();
  });

  test('a rotated key is found by both hashes, a removed key by none', async () => {
    await newAccount('acc_3', 1n);
    const before = await store.generation();
    await store.createKey(key('key_1', 'acc_3'));
    await store.updateKey('key_1', { hash: 'new', priorHash: 'hash-key_1', priorUntil: NOON, scopes: ['chat'] });
    const rotated = await store.keyByHash('new');
    expect(rotated).toMatchObject({ id: 'key_1', priorHash: 'hash-key_1', priorUntil: NOON, scopes: ['chat'] });
    expect(await store.keyByHash('hash-key_1')).toEqual(rotated);
    expect(await store.keyById('key_1')).toEqual(rotated);
    expect(await store.updateKey('key_1', { scopes: null, priorHash: null, priorUntil: null, name: 'n' })).toEqual({
      ...key('key_1', 'acc_3'),
      hash: 'new',
      name: 'n',
    });
    expect(await store.keyByHash('hash-key_1')).toBeUndefined();
    expect(await store.removeKey('key_1')).toBe(true);
    expect(await store.removeKey('key_1')).toBe(false);
    expect(await store.keyByHash('new')).toBeUndefined();
    expect(await store.generation()).toBeGreaterThan(before);
  });

  test('audit rows are listed newest first, of one subject or all', async () => {
    const entry = (id: string, subject: string) => ({ id, at: NOON, actor: 'cli', action: 'key.changed', subject });
    const nameOf = (row: { name: string }) => JSON.stringify({ name: row.name });
    const audited =
      (id: string, subject: string): Audit<KeyRow> =>
      (from, to) => ({
        ...entry(id, subject),
        ...(from && { before: nameOf(from) }),
        ...(to && { after: nameOf(to) }),
      });
    for (const id of ['key_1', 'key_2'])
      await store.createKey({ ...key(id, 'acc_3'), name: 'x' }, audited(`a${id.at(-1)}`, id));
    await store.updateKey('key_1', { name: 'y' }, audited('a3', 'key_1'));
    expect((await store.audits({ limit: 2 })).map(({ id }) => id)).toEqual(['a3', 'a2']);
    expect((await store.audits({ limit: 2, after: 'a2' })).map(({ id }) => id)).toEqual(['a1']);
    expect(await store.audits({ limit: 9, subject: 'key_1' })).toEqual([
      { ...entry('a3', 'key_1'), before: '{"name":"x"}', after: '{"name":"y"}' },
      { ...entry('a1', 'key_1'), after: '{"name":"x"}' },
    ]);
  });
});
