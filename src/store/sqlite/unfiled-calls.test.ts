import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { callRow } from '../../../test/helpers/call-row.ts';
import { fc } from '../../../test/helpers/property.ts';
import { useTempFolder } from '../../../test/helpers/temp-folder.ts';
import { openStore } from '../open-store.ts';
import type { CallRow, HoldRow, LedgerStep } from '../rows.ts';
import type { Store } from '../store.ts';
import { createFiledSnapshots } from './filed-snapshots.ts';

const folder = useTempFolder('unfiled');

const ACCOUNT = 'acc_test';
const KEY = 'key_test';
const AT = Date.UTC(2026, 0, 5);
const TABLES = [
  'calls',
  'entries',
  'call_sums',
  'usage_sums',
  'overview_sums',
  'key_days',
  'accounts',
  'spendings',
  'holds',
  'audits',
];

async function open(leavesUnfiled?: true) {
  const dataDir = mkdtempSync(join(folder, 'db-'));
  const store = await openStore({ dataDir, leavesUnfiled });
  await store.migrate();
  await store.createAccount({ id: ACCOUNT, name: ACCOUNT, balance: 0n, held: 0n, createdAt: 1 });
  await store.ledger([{ type: 'enter', account: ACCOUNT, kind: 'top-up', amount: 10n ** 12n, counter: 'cash', at: 1 }]);
  const path = join(dataDir, 'modelport.db');
  return { store, path, look: new Database(path, { readonly: true }) };
}

const count = (look: Database, table: string) =>
  look.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n;

function held(callId: string, at = AT): HoldRow {
  return { callId, account: ACCOUNT, key: KEY, amount: 1000n, model: 'm', priceId: 'price_1', at, owner: 'own' };
}

function ended(id: string, cost: bigint, more: Partial<CallRow> = {}): LedgerStep {
  const usage = { input: 3, output: 5, source: 'reported' } as const;
  const call = callRow({
    id,
    account: ACCOUNT,
    key: KEY,
    at: AT,
    stream: false,
    cost,
    saved: 2n,
    providerCost: 4n,
    usage,
    ...more,
  });
  return { type: 'resolve', callId: id, amount: cost, call, hold: { account: ACCOUNT, key: KEY, amount: 1000n } };
}

async function endCalls(store: Store, ids: readonly string[], cost = 7n): Promise<void> {
  await store.ledger(ids.map((id) => ({ type: 'hold', hold: held(id) })));
  await store.ledger(ids.map((id) => ended(id, cost)));
}

test('a call waits with its charge, is included in what is read, and is filed when the store is closed', async () => {
  const { store, look } = await open(true);
  await endCalls(store, ['call_1', 'call_2']);
  expect([count(look, 'unfiled_calls'), count(look, 'calls'), count(look, 'entries')]).toEqual([2, 0, 1]);
  expect(await store.account(ACCOUNT)).toMatchObject({ balance: 10n ** 12n - 14n, held: 0n });
  expect(await store.calls({ account: ACCOUNT, limit: 9 })).toHaveLength(2);
  expect([count(look, 'unfiled_calls'), count(look, 'calls'), count(look, 'entries')]).toEqual([0, 2, 3]);
  await endCalls(store, ['call_3']);
  const usage = { account: ACCOUNT, from: 0, to: AT + 3_600_000, groupBy: ['key'] } as const;
  expect(await store.usage(usage)).toEqual([
    {
      key: KEY,
      calls: 3,
      cost: 21n,
      inputTokens: 9,
      outputTokens: 15,
      saved: 6n,
      providerCost: 12n,
      costedCalls: 3,
      costedCharge: 21n,
    },
  ]);
  await endCalls(store, ['call_4', 'call_5'], 0n);
  expect(count(look, 'unfiled_calls')).toBe(2);
  await store.close();
  expect([count(look, 'unfiled_calls'), count(look, 'calls'), count(look, 'entries')]).toEqual([0, 5, 4]);
});

test('after any batches the tables are the same as without unfiled calls', async () => {
  const id = fc.nat({ max: 8 }).map((number) => `call_${number}`);
  const cost = fc.integer({ min: 0, max: 3 }).map(BigInt);
  const step: fc.Arbitrary<LedgerStep> = fc.oneof(
    id.map((callId): LedgerStep => ({ type: 'mark', callId, checkpoint: 5n })),
    fc
      .tuple(id, cost, fc.boolean(), fc.nat({ max: 2 }), fc.nat({ max: 2 }))
      .map(([callId, amount, provisional, hours, kind]) =>
        ended(callId, amount, {
          at: AT + hours * 3_600_000,
          provider: kind === 2 ? 'other' : 'main',
          ...(provisional ? { provisional: true } : kind > 0 && { tags: ['one', 'two'].slice(0, kind) }),
        }),
      ),
    fc.tuple(id, cost).map(
      ([callId, amount]): LedgerStep => ({
        type: 'enter',
        account: ACCOUNT,
        kind: 'refund',
        amount,
        counter: 'revenue',
        callId,
        idempotencyKey: callId,
        at: AT,
      }),
    ),
  );
  const batches = fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(batches, async (given) => {
      const [plain, unfiled] = [await open(), await open(true)];
      // Each call is held once, in the batch that first names it.
      const seen = new Set<string>();
      for (const batch of given) {
        const holds = batch.flatMap((one): LedgerStep[] => {
          const callId = 'callId' in one ? one.callId : undefined;
          if (one.type === 'enter' || callId === undefined || seen.has(callId)) return [];
          seen.add(callId);
          return [{ type: 'hold', hold: held(callId) }];
        });
        const [expected, outcomes] = [
          await plain.store.ledger([...holds, ...batch]),
          await unfiled.store.ledger([...holds, ...batch]),
        ];
        expect(outcomes).toEqual(expected);
      }
      await plain.store.close();
      await unfiled.store.close();
      const rows = (look: Database) => TABLES.map((table) => look.query(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
      expect(rows(unfiled.look)).toEqual(rows(plain.look));
    }),
    { numRuns: 25 },
  );
}, 60_000);

test('what few calls have is summed as without unfiled calls, and amounts that a number cannot hold are exact', async () => {
  const huge = 2n ** 53n + 1n;
  const usage = { input: 30, output: 5, source: 'reported' } as const;
  const steps = [
    ended('call_1', huge, { saved: -huge, usage: { ...usage, cachedInput: 7, cacheWrite: 2, cacheWriteHour: 3 } }),
    ended('call_2', 1n, { usage: { ...usage, reasoning: 4 }, firstByteMs: 260, durationMs: 700 }),
    ended('call_3', 0n, { outcome: 'failed', status: 502, errorCode: 'upstream_failed' }),
  ];
  const rows: object[][] = [];
  for (const leavesUnfiled of [undefined, true] as const) {
    const { store, look } = await open(leavesUnfiled);
    await store.ledger([
      ...steps.map((_, at): LedgerStep => ({ type: 'hold', hold: held(`call_${at + 1}`) })),
      ...steps,
    ]);
    await store.close();
    rows.push(look.query<object, []>('SELECT * FROM overview_sums').safeIntegers(true).all());
  }
  const [direct, filed] = rows;
  expect(filed).toEqual(direct!);
  expect(filed).toMatchObject([
    { cost: huge + 1n, cached_tokens: 7n, cache_write_tokens: 5n, reasoning_tokens: 4n, failed: 1n },
  ]);
});

test('a thread files them when there are many', async () => {
  const { store, look } = await open();
  let calls = 0;
  // The thread starts after some writes; until then calls are recorded directly.
  for (const end = performance.now() + 30_000; count(look, 'unfiled_calls') === 0; await Bun.sleep(0)) {
    expect(performance.now()).toBeLessThan(end);
    await endCalls(store, [`call_${++calls}`]);
  }
  await endCalls(store, [`call_${++calls}`]);
  for (const end = performance.now() + 30_000; count(look, 'calls') !== calls; await Bun.sleep(5))
    expect(performance.now()).toBeLessThan(end);
  expect(count(look, 'unfiled_calls')).toBe(0);
  expect((await store.verify()).faults).toEqual([]);
  await store.close();
}, 60_000);

test('a snapshot for verification has no unfiled calls, also while others record some', async () => {
  const { store, path, look } = await open(true);
  const snapshots = createFiledSnapshots(path, look, 1000);
  const differences = () =>
    look
      .query<{ n: number }, []>(
        'SELECT last_seq - (SELECT count(*) FROM entries WHERE account = accounts.id) AS n FROM accounts',
      )
      .all();
  for (let number = 0; number < 20; number++) {
    await endCalls(store, [`call_${number}`]);
    expect(differences()).toEqual([{ n: 1 }]);
    expect(snapshots.read(differences)).toEqual([{ n: 0 }]);
  }
  snapshots.close();
  await store.close();
});

test('a call that is recorded twice does not stop those after it, and verification names it', async () => {
  const { store, path } = await open(true);
  await endCalls(store, ['call_1']);
  await store.call('call_1');
  await endCalls(store, ['call_2']);
  const file = new Database(path);
  file.run("UPDATE unfiled_calls SET id = 'call_1'");
  file.close();
  await endCalls(store, ['call_3']);
  expect(await store.call('call_3')).toBeDefined();
  expect((await store.verify()).faults.join()).toContain('call_1');
  await store.close();
});

test('filing for a snapshot does not copy the log: calls would be recorded meanwhile, each time', async () => {
  const { store, path, look } = await open(true);
  await endCalls(store, ['call_1', 'call_2']);
  const file = new Database(path);
  file.run('PRAGMA wal_autocheckpoint = 0');
  file.run('CREATE TABLE ballast AS SELECT randomblob(10000000) AS bytes');
  const before = Bun.file(path).size;
  const snapshots = createFiledSnapshots(path, look, 5000);
  expect(snapshots.read(() => count(look, 'calls'))).toBe(2);
  expect(Bun.file(path).size).toBe(before);
  snapshots.close();
  file.close();
  look.close();
  await store.close();
});
