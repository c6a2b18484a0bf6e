import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { ofLoad } from '../../test/helpers/property.ts';
import { openStore } from '../store/open-store.ts';
import { createLedger } from './prepaid-ledger.ts';
import { callRecord, loadHold, openAccount, openTestLedger } from './random-load.ts';

/** As many as the processes of a large installation, each with its own store and connections. */
const WRITERS = ofLoad(64, 32);
const CALLS_EACH = 4;
const COST = 7n;
const HOT = ['acc_hot', 'acc_warm'] as const;

describe.each(ENGINES)('$name', (engine) => {
  test(`${WRITERS} writers to the same two accounts in any order lose nothing, and none waits forever`, async () => {
    const { settings } = await engine.freshDatabase();
    const { store, ledger } = await openTestLedger(settings, 'own_parent');
    const covered = BigInt(WRITERS * CALLS_EACH) * COST;
    for (const account of HOT) await openAccount({ store, ledger }, covered, account);
    const writers = await Promise.all(
      Array.from({ length: WRITERS }, async (_, index) => {
        const own = await openStore({ ...settings, connections: 2 });
        return { own, ledger: createLedger({ store: own, owner: `own_${index}`, now: Date.now }), index };
      }),
    );
    await Promise.all(
      writers.map(async ({ ledger, index }) => {
        for (let i = 0; i < CALLS_EACH; i++) {
          // Both accounts in one batch; for odd numbers in the other order.
          const accounts = (index + i) % 2 === 0 ? HOT : [...HOT].reverse();
          const made = accounts.map((account) => ({
            id: `call_${index}_${i}_${account}`,
            account,
            key: `key_${account}`,
          }));
          const holds = await Promise.all(
            made.map(({ id, account, key }) => ledger.hold(loadHold(id, COST, { account, key }))),
          );
          await Promise.all(
            made.map(({ id, account, key }, at) => {
              const hold = holds[at];
              return hold && ledger.settle(hold, callRecord(id, COST, { account, key }));
            }),
          );
        }
      }),
    );
    for (const account of HOT) expect(await ledger.balance(account)).toEqual({ available: 0n, held: 0n });
    await expect(ledger.hold(loadHold('one_more', 1n, { account: HOT[0] }))).rejects.toMatchObject({
      code: 'insufficient_balance',
    });
    const report = await ledger.verify();
    expect(report).toMatchObject({ faults: [], holds: 0, entries: 2 + 2 * WRITERS * CALLS_EACH });
    for (const { own } of writers) await own.close();
    await store.close();
  }, 120_000);
});
