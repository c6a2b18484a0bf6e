/** Two batches at the same time on Postgres: a connection lost, a refused step, and exact balances. */
import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { hasPostgres, testPostgres } from '../../test/helpers/postgres.ts';
import { createLedger } from './prepaid-ledger.ts';
import { callRecord, loadHold, openAccount, openTestLedger } from './random-load.ts';

const ACCOUNTS = ['acc_a', 'acc_b', 'acc_c', 'acc_d'];
const CALLS = 32;
const CREDIT = 1_000_000n;
const HELD = 100n;
const COST = 40n;

/** A ledger whose running batches are seen, and a second connection that makes them wait. */
async function openBooks() {
  const databaseUrl = await (await testPostgres()).freshDatabase();
  const { store } = await openTestLedger({ dataDir: '', databaseUrl }, 'own_1');
  let running = 0;
  let most = 0;
  const watched = {
    ...store,
    async ledger(...args: Parameters<typeof store.ledger>) {
      most = Math.max(most, ++running);
      return store.ledger(...args).finally(() => running--);
    },
  };
  const ledger = createLedger({ store: watched, owner: 'own_1', now: Date.now });
  for (const id of ACCOUNTS) await openAccount({ store, ledger }, CREDIT, id);
  const other = new SQL({ url: databaseUrl, max: 1 });
  const session = await other.reserve();
  const call = (index: number, more: { model?: string } = {}) => {
    const account = ACCOUNTS[index % ACCOUNTS.length]!;
    return { callId: `call_${index}`, account, key: `key_${account}`, ...more };
  };
  return {
    store,
    ledger,
    session,
    call,
    most: () => most,
    hold: (index: number, more?: { model: string }) => {
      const { callId, ...rest } = call(index, more);
      return ledger.hold(loadHold(callId, HELD, rest));
    },
    settle: (index: number) => {
      const { callId, ...rest } = call(index);
      return ledger.settle({ callId, amount: HELD, ...rest }, callRecord(callId, COST, rest));
    },
    async close() {
      expect(await ledger.verify()).toMatchObject({ faults: [], holds: 0 });
      session.release();
      await other.close();
      await store.close();
    },
  };
}

const indexes = Array.from({ length: CALLS }, (_, index) => index);

describe.skipIf(!hasPostgres)('Postgres', () => {
  test('two batches run at the same time, and balances are exact', async () => {
    const { store, hold, settle, most, close } = await openBooks();
    await Promise.all(
      indexes.map(async (index) => {
        await hold(index);
        await settle(index);
      }),
    );
    expect(most()).toBe(2);
    const each = BigInt(CALLS / ACCOUNTS.length) * COST;
    for (const account of ACCOUNTS)
      expect(await store.account(account)).toMatchObject({ held: 0n, balance: CREDIT - each });
    await close();
  }, 60_000);

  test.each([
    ['one statement', true],
    ['decided under locks', false],
  ])(
    '%s: a connection lost fails the calls of its batch alone, and none of them holds or costs anything',
    async (_, isKnown) => {
      const { store, ledger, session, hold, settle, close } = await openBooks();
      const before = isKnown ? ACCOUNTS.map((_, index) => CALLS + index) : [];
      await Promise.all(before.map((index) => hold(index)));
      await session.unsafe('BEGIN');
      await session.unsafe('LOCK TABLE holds IN SHARE MODE');
      const ends = { held: [] as number[], refused: [] as number[] };
      const all = indexes.map((index) =>
        hold(index).then(
          () => ends.held.push(index),
          (thrown) => {
            expect(thrown).toMatchObject({ code: 'database_unavailable' });
            ends.refused.push(index);
          },
        ),
      );
      const waiting = async (): Promise<{ pid: number }[]> =>
        session.unsafe(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
      while ((await waiting()).length < 2) await Bun.sleep(5);
      const [first] = await waiting();
      await session.unsafe(`SELECT pg_terminate_backend(${Number(first?.pid)})`);
      while (ends.refused.length < CALLS / 2) await Bun.sleep(5);
      expect(ends.held).toEqual([]);
      await session.unsafe('COMMIT');
      await Promise.all(all);
      expect([ends.held.length, ends.refused.length]).toEqual([CALLS / 2, CALLS / 2]);
      const held = (await store.holds()).map(({ callId }) => callId);
      expect(held.sort()).toEqual([...before, ...ends.held].map((index) => `call_${index}`).sort());
      // The accounts of both batches go on: what was known of the lost one's is read again.
      await Promise.all(ends.refused.map((index) => hold(index)));
      await Promise.all([...before, ...indexes].map(settle));
      const each = BigInt((before.length + CALLS) / ACCOUNTS.length) * COST;
      for (const account of ACCOUNTS)
        expect(await store.account(account)).toMatchObject({ held: 0n, balance: CREDIT - each });
      expect(await ledger.sweep(Date.now())).toBe(0);
      await close();
    },
    60_000,
  );

  test('a step that the database refuses fails alone', async () => {
    const { hold, settle, most, close } = await openBooks();
    const refused = 5;
    const results = await Promise.allSettled(
      indexes.map((index) => (index === refused ? hold(index, { model: 'not\0text' }) : hold(index))),
    );
    expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([refused]);
    expect(most()).toBe(2);
    await Promise.all(indexes.filter((index) => index !== refused).map(settle));
    await close();
  }, 60_000);
});
