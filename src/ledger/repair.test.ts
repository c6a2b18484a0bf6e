/** Each kind of repairable damage is previewed, corrected and audited; altered rows are not touched. */
import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { openSmallLedger } from '../../test/helpers/small-ledger.ts';
import { newId } from '../canonical/id.ts';
import type { Audit, HoldRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Correction } from '../store/verify/repair.ts';
import { repairBooks, writeCorrection } from './repair.ts';

const audit =
  ({ account }: Correction): Audit<object> =>
  () => ({ id: newId('audit_'), at: 1, actor: 'cli', action: 'ledger.repaired', subject: account });
const repair = async (store: Store, enter: boolean) => repairBooks(store, await store.verify(), enter, audit);

const HELD: HoldRow = {
  callId: 'call_open',
  account: 'acc_a',
  key: 'key_of_acc_a',
  amount: 70n,
  model: 'm',
  priceId: 'price_1',
  at: Date.UTC(2026, 0, 2),
  owner: 'own_1',
};

const DAMAGE: [name: string, sql: string, corrected: RegExp][] = [
  [
    "a key's spending",
    "UPDATE spendings SET total = total + 5 WHERE key = 'key_of_acc_a'",
    /spending of key key_of_acc_a: total/,
  ],
  [
    "a key's holds",
    "UPDATE spendings SET held = held - 7 WHERE key = 'key_of_acc_a'",
    /spending of key key_of_acc_a: held .* -> 0\.00000007 USD/,
  ],
  [
    "an account's holds",
    "UPDATE accounts SET held = 0 WHERE id = 'acc_a'",
    /holds of account acc_a: held 0 USD -> 0\.00000007 USD/,
  ],
  [
    'a balance',
    "UPDATE accounts SET balance = balance + 1000000000 WHERE id = 'acc_a'",
    /balance of account acc_a: balance/,
  ],
  [
    "an account's spending",
    "UPDATE accounts SET spent = 0 WHERE id = 'acc_a'",
    /balance of account acc_a: spent 0 USD -> /,
  ],
  [
    'the cost of a sum',
    "UPDATE call_sums SET cost = cost + 1 WHERE account = 'acc_a'",
    /sum of key key_of_acc_a on m in the hour of 2026-01-01T00:00/,
  ],
  [
    'the calls of a sum',
    "UPDATE call_sums SET calls = calls + 1, input_tokens = 0 WHERE account = 'acc_a'",
    /sum of key .*calls 6 -> 5|sum of key .*calls 7 -> 6/,
  ],
  ['the savings of a sum', "UPDATE call_sums SET saved = saved + 7 WHERE account = 'acc_a'", /sum of key .*saved /],
  ['a sum that is gone', "DELETE FROM call_sums WHERE account = 'acc_a'", /calls none -> [56]/],
  [
    'a sum without calls',
    "INSERT INTO call_sums (account, hour, key, model, calls, cost, input_tokens, output_tokens) VALUES ('acc_a', 500000, 'key_of_acc_a', 'z', 1, 2, 3, 4)",
    /on z in the hour .*calls 1 -> 0/,
  ],
  [
    'the hold of a call that has ended',
    "UPDATE holds SET call_id = 'call_0'",
    /hold of call call_0, which has ended: held 0\.00000007 USD -> none/,
  ],
];

describe.each(ENGINES)('repair over $name', (engine) => {
  test.each(DAMAGE)('%s', async (_, damage, corrected) => {
    const { store, tamper } = await freshStore(engine);
    const small = await openSmallLedger(store);
    await small.calls(33);
    await store.ledger([{ type: 'hold', hold: HELD }]);
    await tamper(damage);
    const damaged = await store.verify();
    expect(damaged.ok).toBe(false);
    const preview = await repair(store, false);
    expect(preview.left).toEqual([]);
    expect(preview.corrections.map(writeCorrection).join('\n')).toMatch(corrected);
    // A preview changes nothing and writes no audit row.
    expect((await store.verify()).faults).toEqual(damaged.faults);
    expect(await store.audits({ limit: 10, subject: 'acc_a' })).toEqual([]);
    const entered = await repair(store, true);
    expect(entered).toEqual(preview);
    expect((await store.verify()).faults).toEqual([]);
    const record = await store.audits({ limit: 100, subject: 'acc_a' });
    expect(record).toHaveLength(entered.corrections.length);
    expect(record[0]).toMatchObject({ actor: 'cli', action: 'ledger.repaired' });
    expect(await repair(store, true)).toEqual({ corrections: [], left: [] });
    // A process with cached balances continues with the corrected ones.
    await small.calls(20);
    expect((await store.verify()).faults).toEqual([]);
    await store.close();
  });

  test.each([
    ["UPDATE entries SET amount = amount + 1 WHERE account = 'acc_a' AND seq = 2", 'was altered'],
    ["DELETE FROM entries WHERE account = 'acc_a' AND seq = 3", 'missing'],
    ["UPDATE calls SET cost = cost + 1 WHERE id = 'call_4'", 'call_4'],
    ["DELETE FROM calls WHERE id = 'call_4'", 'not recorded'],
    ["UPDATE accounts SET last_seq = last_seq - 1 WHERE id = 'acc_a'", 'newest entry'],
  ])('altered rows are left to a person, with their whole account: %s', async (damage, expected) => {
    const { store, tamper } = await freshStore(engine);
    await (await openSmallLedger(store)).calls(33);
    await tamper(damage);
    // Sums of the same account would depend on the altered row; those of another account do not.
    await tamper("UPDATE spendings SET total = total + 5 WHERE key = 'key_of_acc_b'");
    const before = await store.account('acc_a');
    const { corrections, left } = await repair(store, true);
    expect(corrections.map(({ account }) => account)).toEqual(['acc_b']);
    expect(left.map(({ fault }) => fault).join('\n')).toContain(expected);
    expect(await store.account('acc_a')).toEqual(before);
    const after = await store.verify();
    expect(after.ok).toBe(false);
    expect(after.findings.every(({ account }) => account === 'acc_a')).toBe(true);
    await store.close();
  });
});
