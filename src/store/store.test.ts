import { describe, expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { ModelRow } from './catalog-rows.ts';
import { openStore } from './open-store.ts';
import type { CallRow, HoldRow, KeyRow, LedgerStep } from './rows.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const HUGE = 9_007_199_254_740_993n; // too large for a JavaScript number

const account = (id: string, name = id) => ({ id, name, balance: 0n, held: 0n, createdAt: NOON });

const topUp = (amount: bigint, to = 'acc_1'): LedgerStep => ({
  type: 'enter',
  account: to,
  kind: 'top-up',
  amount,
  counter: 'cash',
  at: NOON,
});

const hold = (callId: string, amount: bigint): LedgerStep => {
  const row: HoldRow = {
    callId,
    account: 'acc_1',
    key: 'key_1',
    amount,
    model: 'm',
    priceId: 'p',
    at: NOON,
    owner: 'own_1',
  };
  return { type: 'hold', hold: row };
};

const call = (id: string, more: Partial<CallRow> = {}): CallRow => callRow({ id, at: NOON, ...more });

const resolve = (row: CallRow): LedgerStep => ({ type: 'resolve', callId: row.id, amount: row.cost, call: row });

const key = (id: string, more: Partial<KeyRow> = {}): KeyRow => ({
  id,
  account: 'acc_1',
  kind: 'caller',
  name: 'n',
  hash: `hash of ${id}`,
  last4: 'abcd',
  createdAt: NOON,
  ...more,
});

describe.each(ENGINES)('the store over $name', (engine) => {
  describe('opening', () => {
    test('a new database is not ready until migrated, and migrating again changes nothing', async () => {
      const { settings } = await engine.emptyDatabase();
      const store = await openStore(settings);
      expect(await store.ready()).toMatchObject({ ready: false, reasons: [expect.stringContaining('not migrated')] });
      await store.migrate();
      await store.migrate();
      expect(await store.ready()).toEqual({ ready: true, reasons: [], warnings: [] });
      await store.close();
      expect(await store.ready()).toMatchObject({ ready: false, reasons: ['The database does not answer.'] });
    });

    test('several processes that bootstrap an empty database at the same time do it once', async () => {
      const { settings } = await engine.emptyDatabase();
      const begun = await Promise.all(
        Array.from({ length: 5 }, async (_, index) => {
          const store = await openStore(settings);
          await store.migrate();
          const id = `acc_${index}`;
          const steps: LedgerStep[] = [{ ...topUp(10n, id) } as LedgerStep];
          const keys = [key(`key_${index}`, { account: id })];
          const first = { account: account(id, 'default'), steps, keys, audits: [] };
          const begins = await store.begin(first);
          await store.close();
          return begins;
        }),
      );
      expect(begun.filter(Boolean)).toHaveLength(1);
      const store = await openStore(settings);
      expect(await store.accounts({ limit: 9 })).toMatchObject([{ name: 'default', balance: 10n }]);
      expect(await store.keys({ limit: 9 })).toHaveLength(1);
      expect((await store.verify()).faults).toEqual([]);
      await store.close();
    });

    test.each([
      [
        "INSERT INTO migrations (version, fingerprint) VALUES (999, 'x')",
        'The database has schema version 999, this Modelport supports',
      ],
      ["UPDATE migrations SET fingerprint = 'x' WHERE version = 1", "Step 1 of the database's schema is not the one"],
    ])('a database of another code is refused with a sentence: %s', async (tampering, sentence) => {
      const { store, tamper, settings } = await freshStore(engine);
      await store.close();
      await tamper(tampering);
      const again = await openStore(settings);
      await expect(again.migrate()).rejects.toThrow(sentence);
      await again.close();
    });
  });

  describe('accounts and keys', () => {
    test('accounts are found by id and by name, names are unique, and pages have the order of creation', async () => {
      const { store } = await freshStore(engine);
      for (const [id, name] of [
        ['z', 'one'],
        ['y', 'two'],
        ['x', 'three'],
      ] as const) {
        await store.createAccount(account(id, name));
      }
      expect(await store.account('one')).toEqual(account('z', 'one'));
      expect((await store.account('x'))?.id).toBe('x');
      expect(await store.account('nobody')).toBeUndefined();
      await expect(store.createAccount(account('v', 'two'))).rejects.toMatchObject({ code: 'conflict' });
      await expect(store.updateAccount('x', { name: 'two' })).rejects.toMatchObject({ code: 'conflict' });
      const ids = async (after?: string) =>
        (await store.accounts({ limit: 2, ...(after && { after }) })).map(({ id }) => id);
      expect(await ids()).toEqual(['z', 'y']);
      expect(await ids('y')).toEqual(['x']);
      await expect(store.createAccount({ ...account('w'), balance: 5n })).rejects.toThrow('has no money');
      await store.close();
    });

    test('a key is read as it was saved, with few or all members', async () => {
      const { store } = await freshStore(engine);
      await store.createAccount(account('acc_1'));
      const full = key('key_2', {
        expiresAt: 1,
        disabledAt: 2,
        models: ['a'],
        addresses: ['10.0.0.0/8'],
        scopes: [],
        aliases: { x: 'a' },
        callerRouting: false,
        budget: { total: HUGE, day: 0n },
        requestsPerMinute: 3,
        tokensPerMinute: 4,
        concurrency: 5,
      });
      for (const row of [key('key_1'), full]) await store.createKey(row);
      expect(await store.keyByHash('hash of key_1')).toEqual(key('key_1'));
      expect(await store.keyByHash('hash of key_2')).toEqual(full);
      expect(await store.keyByHash('?')).toBeUndefined();
      expect(await store.keys({ limit: 9, account: 'acc_1', after: 'key_1' })).toEqual([full]);
      expect(await store.keys({ limit: 9, account: 'acc_2' })).toEqual([]);
      await expect(store.createKey(key('key_3', { account: 'none' }))).rejects.toMatchObject({ code: 'not_found' });
      await store.close();
    });

    test('a key is disabled, enabled and rotated, each without other changes', async () => {
      const { store } = await freshStore(engine);
      await store.createAccount(account('acc_1'));
      await store.createKey(key('key_1'));
      expect(await store.updateKey('key_1', { disabledAt: 7 })).toEqual(key('key_1', { disabledAt: 7 }));
      const renewed = key('key_1', { disabledAt: 7, hash: 'h', last4: 'wxyz' });
      expect(await store.updateKey('key_1', { hash: 'h', last4: 'wxyz' })).toEqual(renewed);
      const { disabledAt: _, ...enabled } = renewed;
      expect(await store.updateKey('key_1', { disabledAt: null })).toEqual(enabled);
      expect(await store.updateKey('none', { disabledAt: 7 })).toBeUndefined();
      await store.close();
    });
  });

  describe('catalog rows', () => {
    test('prices are immutable, providers and models are not, and each change increases the generation', async () => {
      const { store } = await freshStore(engine);
      const price = { id: 'price_1', model: 'm', components: '{}', createdAt: 1 };
      const limits = { concurrency: 20, tokensPerMinute: 90_000, queueMs: 500 };
      const provider = {
        name: 'p',
        type: 't',
        baseUrl: 'http://x',
        credentials: ['c'],
        settings: { a: 'b' },
        ...limits,
      };
      const model: ModelRow = {
        name: 'M',
        aliases: ['other'],
        fallbacks: [{ model: 'm', on: ['unavailable'] }],
        kind: 'chat',
        priceId: 'price_1',
        maxOutputTokens: 5,
        ownedBy: 'o',
        onDisconnect: 'abort',
        continuation: 'buffer',
        createdAt: 1,
        targets: [
          { provider: 'p', model: 'm', priority: 0, weight: 1, inputs: ['image'], tools: false, cost: '{"input":"1"}' },
        ],
        strategy: 'latency',
        retries: 2,
        affinity: 'off',
        firstTokenMs: 9000,
      };
      let generation = await store.generation();
      const raises = async (change: Promise<unknown>) => {
        await change;
        const now = await store.generation();
        expect(now).toBeGreaterThan(generation);
        generation = now;
      };
      await raises(store.savePrice(price));
      await store.savePrice(price);
      await expect(store.savePrice({ ...price, components: '{"input":"1"}' })).rejects.toMatchObject({
        code: 'conflict',
      });
      expect(await store.price('price_1')).toEqual(price);
      expect(await store.prices({ limit: 5, model: 'other' })).toEqual([]);
      await raises(store.saveProvider(provider));
      await raises(store.saveProvider({ ...provider, type: 'u' }));
      expect(await store.providers()).toEqual([{ ...provider, type: 'u' }]);
      await raises(store.saveModel(model));
      await raises(store.saveModel({ ...model, name: 'm' }));
      expect((await store.models()).map(({ name }) => name)).toEqual(['M', 'm']);
      expect((await store.models())[0]).toEqual(model);
      const { aliases: _, fallbacks: __, continuation: ___, strategy: ____, retries: _____, ...plain } = model;
      await raises(store.saveModel(plain));
      expect((await store.models())[0]).toEqual(plain);
      await raises(store.removeModel('m'));
      await raises(store.removeProvider('p'));
      expect(await store.removeProvider('p')).toBe(false);
      await store.close();
    });
  });

  describe('calls', () => {
    test('pages are newest first and filtered, without gaps or repetitions for equal times', async () => {
      const { store } = await freshStore(engine);
      for (const id of ['acc_1', 'acc_2']) await store.createAccount(account(id));
      await store.ledger([topUp(1000n)]);
      const rows = Array.from({ length: 25 }, (_, i) =>
        call(`call_${String(i).padStart(2, '0')}`, {
          at: NOON + Math.floor(i / 4),
          model: i % 2 ? 'odd' : 'even',
          firstByteMs: 2.6,
        }),
      );
      await store.ledger([...rows, call('other', { account: 'acc_2', key: 'key_2' })].map(resolve));
      const seen: string[] = [];
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await store.calls({ account: 'acc_1', limit: 7, ...(after && { after }) });
        seen.push(...page.map(({ id }) => id));
        if (page.length < 7) break;
      }
      expect(seen).toEqual(rows.map(({ id }) => id).reverse());
      const odd = await store.calls({ limit: 50, model: 'odd', from: NOON + 1, to: NOON + 2 });
      expect(odd.map(({ id }) => id)).toEqual(['call_07', 'call_05']);
      expect(await store.calls({ limit: 50, key: 'key_2' })).toHaveLength(1);
      expect(await store.call('call_03')).toEqual(call('call_03', { at: NOON, model: 'odd', firstByteMs: 3 }));
      await store.close();
    });
  });

  describe('the ledger', () => {
    test('a batch can hold, mark and resolve a call, and repeat this', async () => {
      const { store } = await freshStore(engine);
      await store.createAccount(account('acc_1'));
      const outcomes = await store.ledger([
        topUp(HUGE),
        hold('call_1', HUGE),
        hold('call_2', 1n),
        { type: 'mark', callId: 'call_1', sentAt: 3, checkpoint: 4n },
        resolve(call('call_1', { cost: 7n })),
        resolve(call('call_1', { cost: 8n })),
        { ...topUp(1n), account: 'nobody' } as LedgerStep,
      ]);
      expect(outcomes.slice(1)).toEqual([
        { type: 'held' },
        { type: 'refused', why: 'insufficient_balance', available: 0n },
        { type: 'marked' },
        { type: 'resolved', repeated: false, amount: 7n },
        { type: 'resolved', repeated: true, amount: 7n },
        { type: 'unknown-account' },
      ]);
      expect(await store.account('acc_1')).toMatchObject({ balance: HUGE - 7n, held: 0n });
      expect(await store.keySpending('key_1', NOON)).toEqual({ total: 7n, day: 7n, month: 7n });
      expect(await store.verify()).toEqual({
        ok: true,
        accounts: 1,
        entries: 2,
        holds: 0,
        counters: { cash: -HUGE, revenue: 7n },
        faults: [],
        findings: [],
        notes: [],
        read: { entries: 2, calls: 1 },
      });
      await store.close();
    });

    test('entries are paged from the oldest and from the newest, each once', async () => {
      const { store } = await freshStore(engine);
      for (const id of ['acc_1', 'acc_2']) await store.createAccount(account(id));
      for (const amount of [1n, 2n, 3n]) await store.ledger([topUp(amount)]);
      await store.ledger([topUp(9n, 'acc_2')]);
      const page = async (newestFirst: boolean, after?: string) => {
        const rows = await store.entries('acc_1', { limit: 2, newestFirst, ...(after && { after }) });
        return rows.map(({ seq, amount }) => [seq, amount]);
      };
      expect([await page(false), await page(false, '2')]).toEqual([
        [
          [1, 1n],
          [2, 2n],
        ],
        [[3, 3n]],
      ]);
      expect([await page(true), await page(true, '2'), await page(true, '1')]).toEqual([
        [
          [3, 3n],
          [2, 2n],
        ],
        [[1, 1n]],
        [],
      ]);
      await store.close();
    });

    test('a batch that fails leaves nothing behind', async () => {
      const { store } = await freshStore(engine);
      await store.createAccount(account('acc_1'));
      await store.ledger([topUp(100n), hold('call_1', 1n)]);
      await expect(store.ledger([topUp(5n), hold('call_1', 1n)])).rejects.toThrow(/unique/i);
      expect(await store.account('acc_1')).toMatchObject({ balance: 100n, held: 1n });
      await store.ledger([topUp(5n)]);
      expect((await store.verify()).faults).toEqual([]);
      await store.close();
    });

    test('marks keep the first time of sending and the largest checkpoint, in one batch or several', async () => {
      const { store } = await freshStore(engine);
      await store.createAccount(account('acc_1'));
      const marks: LedgerStep[] = [
        { type: 'mark', callId: 'call_1', sentAt: 3, checkpoint: 4n },
        { type: 'mark', callId: 'call_1', sentAt: 5, checkpoint: 2n },
        { type: 'mark', callId: 'call_1', checkpoint: 9n },
        { type: 'mark', callId: 'call_1', sentAt: 6 },
      ];
      await store.ledger([topUp(9n), hold('call_1', 1n), ...marks]);
      const [first] = await store.holds({ owners: ['own_1'] });
      expect(first).toMatchObject({ sentAt: 3, checkpoint: 9n });
      await store.ledger([resolve(call('call_1')), hold('call_2', 1n)]);
      for (const mark of marks) await store.ledger([{ ...mark, callId: 'call_2' } as LedgerStep]);
      expect(await store.holds()).toEqual([{ ...first, callId: 'call_2' } as HoldRow]);
      expect(await store.holds({ owners: ['own_2'] })).toEqual([]);
      await store.close();
    });

    test.each([
      ['UPDATE entries SET amount = 6 WHERE seq = 1', 'was altered'],
      ["UPDATE entries SET note = 'x' WHERE seq = 2", 'Entry 2 of account acc_1 was altered: its hash does not match.'],
      ['DELETE FROM entries WHERE seq = 2', 'Entry 3 of account acc_1 follows entry 1'],
      ['DELETE FROM entries WHERE seq = 3', 'ends at entry 3, but its newest entry is 2'],
      ['UPDATE accounts SET balance = balance + 1', 'but its entries add up to 90'],
      ['UPDATE accounts SET held = 0', 'Account acc_1 has 0 on hold, but its open holds add up to 3.'],
      ["DELETE FROM calls WHERE id = 'call_1'", 'charges call call_1, which is not recorded'],
      ["UPDATE calls SET cost = 1 WHERE id = 'call_1'", 'charges 5 for call call_1, whose record says 1'],
      [
        "UPDATE calls SET cost = 1, entry_seq = NULL WHERE id = 'call_3'",
        'Call call_3 cost 1 but no entry charges it.',
      ],
      ["UPDATE holds SET call_id = 'call_1'", 'Call call_1 is recorded, but its hold is still open.'],
      ['UPDATE spendings SET total = 0', 'Key key_1 has spent 0, but its calls add up to 10.'],
      [
        "UPDATE entries SET account = 'acc_2' WHERE seq = 3",
        'There are entries of account acc_2, which does not exist.',
      ],
      ["UPDATE call_sums SET model = 'other'", 'is wrong: calls 0 instead of 3, cost 0 instead of 10'],
      ['UPDATE call_sums SET hour = hour - 1', 'is wrong: calls 0 instead of 3, cost 0 instead of 10'],
      ['UPDATE call_sums SET input_tokens = input_tokens + 1', /is wrong: input_tokens \d+ instead of \d+\.$/],
      ['UPDATE call_sums SET saved = saved + 1', 'is wrong: saved 1 instead of 0.'],
      ['UPDATE call_sums SET costed_charge = 4', 'is wrong: costed_charge 4 instead of 0.'],
      ['DELETE FROM call_sums', 'is wrong: calls 0 instead of 3, cost 0 instead of 10'],
    ])('verify detects: %s', async (tampering, fault) => {
      const { store, tamper } = await freshStore(engine);
      await store.createAccount(account('acc_1'));
      await store.ledger([
        topUp(100n),
        ...['call_1', 'call_2'].map((id) => resolve(call(id, { cost: 5n }))),
        resolve(call('call_3')),
        hold('call_4', 3n),
      ]);
      expect(await store.verify()).toMatchObject({ ok: true, accounts: 1, entries: 3, holds: 1, faults: [] });
      await tamper(tampering);
      const report = await store.verify();
      expect(report.ok).toBe(false);
      expect(report.faults.join('\n')).toMatch(fault);
      await store.close();
    });
  });
});
