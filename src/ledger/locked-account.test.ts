/** An account whose row is locked delays its own calls, and no others. */
import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { hasPostgres, testPostgres } from '../../test/helpers/postgres.ts';
import { callRecord, KEY, loadHold, openAccount, openTestLedger } from './random-load.ts';

const LOCKED_MS = 1500;
const WITHIN_MS = 500;
const LEAST_CALLS = 40;

async function lockedBooks(connections: number, accounts: readonly string[]) {
  const databaseUrl = await (await testPostgres()).freshDatabase();
  const opened = await openTestLedger({ dataDir: '', databaseUrl, connections }, 'own_1');
  for (const id of ['acc_free', 'acc_other', ...accounts]) await openAccount(opened, 1_000_000n, id);
  const sql = new SQL({ url: databaseUrl, max: 1 });
  const session = await sql.reserve();
  const call = async (id: string, account: string) => {
    const began = performance.now();
    const key = `${KEY}_${account}`;
    const hold = await opened.ledger.hold(loadHold(id, 10n, { account, key, sentAt: 1, checkpoint: 1n }));
    await opened.ledger.settle(hold, callRecord(id, 4n, { account, key }));
    return performance.now() - began;
  };
  const lock = async () => {
    await session.unsafe('BEGIN');
    for (const id of accounts) await session.unsafe(`SELECT 1 FROM accounts WHERE id = '${id}' FOR UPDATE`);
  };
  const unlock = () => session.unsafe('COMMIT');
  const close = async () => {
    expect(await opened.ledger.verify()).toMatchObject({ faults: [], holds: 0 });
    session.release();
    await sql.close();
    await opened.store.close();
  };
  return { ...opened, call, lock, unlock, close };
}

describe.skipIf(!hasPostgres)('Postgres', () => {
  test.each([
    ['one account', 5, ['acc_x']],
    ['one account and three connections', 3, ['acc_x']],
    ['more accounts than may be waited for', 4, ['acc_v', 'acc_w', 'acc_x', 'acc_y', 'acc_z']],
  ])(
    '%s: the calls of other accounts continue, and those of the locked account wait and then succeed',
    async (_, connections, accounts) => {
      const { call, lock, unlock, store, close } = await lockedBooks(connections, accounts);
      // Known to this process, and in one batch with the others.
      await Promise.all(['acc_free', ...accounts].map((account) => call(`call_before_${account}`, account)));
      await lock();
      const ended: string[] = [];
      const waiting = accounts.flatMap((account) =>
        [1, 2].map(async (number) => {
          await call(`call_${account}_${number}`, account);
          ended.push(account);
        }),
      );
      const until = performance.now() + LOCKED_MS;
      const took: number[] = [];
      while (performance.now() < until || took.length < LEAST_CALLS) {
        const made = took.length;
        const both = await Promise.all([
          call(`call_free_${made}`, 'acc_free'),
          call(`call_other_${made}`, 'acc_other'),
        ]);
        took.push(...both);
      }
      // Not the slowest: nothing is fast on a machine that is busy for that moment.
      expect(took.toSorted((a, b) => a - b)[took.length >> 1]).toBeLessThan(WITHIN_MS);
      expect(ended).toEqual([]);
      expect(await store.account('acc_free')).toMatchObject({ held: 0n });
      await unlock();
      await Promise.all(waiting);
      await close();
    },
    60_000,
  );

  test('checkpoints and marks of calls keep their order', async () => {
    const { ledger, store, lock, unlock, close } = await lockedBooks(5, ['acc_x']);
    const key = KEY;
    const hold = await ledger.hold(loadHold('call_1', 10n, { account: 'acc_x', key }));
    await lock();
    const sent = ledger.sent(hold, 5, 2n);
    const settled = ledger.settle(hold, callRecord('call_1', 7n, { account: 'acc_x', key }));
    const next = ledger.hold(loadHold('call_2', 999_994n, { account: 'acc_x', key }));
    await Bun.sleep(100);
    await unlock();
    await Promise.all([sent, settled]);
    await expect(next).rejects.toMatchObject({ code: 'insufficient_balance' });
    await ledger.flush();
    expect(await store.call('call_1')).toMatchObject({ cost: 7n });
    await close();
  });
});
