/** A call that another process settled because its owner seemed dead: the owner's later settlement replaces it. */

import { describe, expect, test } from 'bun:test';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { DAY_MS } from '../canonical/time.ts';
import type { CallRow, EntryKind } from '../store/rows.ts';
import { ACCOUNT, callRecord, KEY, loadHold, openAccount, openTestLedger } from './random-load.ts';

const NOON = Date.UTC(2026, 10, 30, 12);
const gone = () => 'gone' as const;
const USAGE = { input: 7, output: 5, source: 'reported' } as const;

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  /** A process with an open hold, and one that assumes it is dead. */
  async function twoProcesses(amount = 1000n) {
    const { settings, tamper } = await engine.freshDatabase();
    const owner = await openTestLedger(settings, 'own_1', () => NOON);
    const watcher = await openTestLedger(settings, 'own_2', () => NOON);
    await openAccount(owner, amount);
    const provisional = async (checkpoint: bigint | undefined, at = NOON) => {
      const sent = checkpoint === undefined ? {} : { sentAt: at, checkpoint };
      const hold = await owner.ledger.hold(loadHold('call_1', 500n, { at, ...sent }));
      expect(await watcher.ledger.sweep(at, gone)).toBe(1);
      const cost = checkpoint ?? 0n;
      expect(await owner.store.call('call_1')).toMatchObject({ outcome: 'interrupted', cost, provisional: true });
      return hold;
    };
    const settle = (hold: Parameters<typeof owner.ledger.settle>[0], cost: bigint, more: Partial<CallRow> = {}) =>
      owner.ledger.settle(hold, callRecord(hold.callId, cost, { at: NOON, ...more }));
    /** Checks that the account's only call has this cost in every record. */
    async function expectCost(cost: bigint) {
      const { store } = watcher;
      expect((await store.verify()).faults).toEqual([]);
      expect(await watcher.ledger.balance(ACCOUNT)).toEqual({ available: amount - cost, held: 0n });
      expect((await store.keySpending(KEY, NOON)).total).toBe(cost);
      expect((await store.accountSpending(ACCOUNT, NOON)).total).toBe(cost);
      expect((await store.call('call_1'))?.cost).toBe(cost);
      const [sum] = await store.usage({ account: ACCOUNT, from: 0, to: NOON + DAY_MS, groupBy: ['model'] });
      expect(sum).toMatchObject({ calls: 1, cost });
      return sum;
    }
    const kinds = async () => (await owner.store.entries(ACCOUNT, { limit: 9 })).map(({ kind }) => kind);
    const close = async () => {
      await owner.store.close();
      await watcher.store.close();
    };
    return { owner, watcher, provisional, settle, expectCost, kinds, tamper, close };
  }

  test.each<[string, bigint | undefined, bigint, EntryKind[]]>([
    ['more than the checkpoint', 20n, 90n, ['top-up', 'charge', 'completion']],
    ['less than the checkpoint', 90n, 20n, ['top-up', 'charge', 'completion']],
    ['nothing after all', 90n, 0n, ['top-up', 'charge', 'completion']],
    ['something where nothing was known to be sent', undefined, 90n, ['top-up', 'completion']],
    ['more than was held', 20n, 800n, ['top-up', 'charge', 'completion']],
    ['as much as the checkpoint', 90n, 90n, ['top-up', 'charge']],
    ['nothing, like the provisional one', undefined, 0n, ['top-up']],
  ])('the final cost of %s replaces the provisional cost', async (_, checkpoint, cost, entries) => {
    const { owner, watcher, provisional, settle, expectCost, kinds, close } = await twoProcesses();
    const hold = await provisional(checkpoint);
    await expectCost(checkpoint ?? 0n);
    const final = { provider: 'provider', usage: USAGE, saved: 4n, durationMs: 50, firstByteMs: 3 };
    await Promise.all([settle(hold, cost, final), settle(hold, cost + 7n)]);
    expect(await expectCost(cost)).toMatchObject({ inputTokens: 7, outputTokens: 5, saved: 4n });
    const call = await watcher.store.call('call_1');
    expect(call).toMatchObject({ outcome: 'ok', status: 200, attempts: 1, ...final });
    expect(call).not.toHaveProperty('provisional');
    // Settling again, in any process, changes nothing.
    await settle(hold, cost + 1n);
    await watcher.ledger.settle(hold, callRecord('call_1', cost + 2n));
    expect(await watcher.ledger.sweep(NOON, gone)).toBe(0);
    await expectCost(cost);
    expect(await kinds()).toEqual(entries);
    const audits = await owner.store.audits({ limit: 9 });
    expect(audits).toMatchObject([{ actor: 'gateway', action: 'call.completed', subject: 'call_1' }]);
    await close();
  });

  test('without enough balance the completion makes it negative', async () => {
    const { owner, provisional, settle, close } = await twoProcesses();
    const hold = await provisional(1n);
    const other = await owner.ledger.hold(loadHold('call_2', 999n, { at: NOON }));
    await settle(other, 999n);
    await settle(hold, 500n);
    expect(await owner.ledger.balance(ACCOUNT)).toEqual({ available: -499n, held: 0n });
    await expect(owner.ledger.hold(loadHold('call_3', 0n))).rejects.toMatchObject({ code: 'insufficient_balance' });
    expect((await owner.store.verify()).faults).toEqual([]);
    await close();
  });

  test('a refund is limited to the final cost of the call', async () => {
    const { owner, provisional, settle, close } = await twoProcesses();
    const hold = await provisional(20n);
    await settle(hold, 90n);
    const refund = (amount: bigint) =>
      owner.ledger.topUp(ACCOUNT, amount, { kind: 'refund', callId: 'call_1', at: NOON });
    await refund(80n);
    await expect(refund(11n)).rejects.toMatchObject({ code: 'invalid_request' });
    await refund(10n);
    expect(await owner.store.corrections('call_1')).toBe(90n);
    expect((await owner.store.verify()).faults).toEqual([]);
    await close();
  });

  test('a lower final cost is returned to the day of the first booking, a higher one counts on the current day', async () => {
    const { owner, provisional, settle, close } = await twoProcesses();
    const hold = await provisional(300n, NOON - DAY_MS);
    await settle(hold, 100n);
    expect(await owner.store.keySpending(KEY, NOON)).toEqual({ total: 100n, month: 100n, day: 0n });
    const second = await owner.ledger.hold(loadHold('call_2', 300n, { at: NOON }));
    await settle(second, 50n);
    expect(await owner.store.keySpending(KEY, NOON)).toEqual({ total: 150n, month: 150n, day: 50n });
    expect((await owner.store.verify()).faults).toEqual([]);
    await close();
  });

  test.each([
    'UPDATE calls SET completion_seq = NULL',
    "UPDATE calls SET cost = 20 WHERE id = 'call_1'",
    "DELETE FROM entries WHERE kind = 'completion'",
    "UPDATE entries SET amount = -69 WHERE kind = 'completion'",
  ])('verify detects: %s', async (change) => {
    const { owner, provisional, settle, tamper, close } = await twoProcesses();
    await settle(await provisional(20n), 90n);
    await tamper(change);
    expect((await owner.store.verify()).faults).not.toEqual([]);
    await close();
  });

  test('a completion in the same batch as the provisional settlement has the same result', async () => {
    const { owner, watcher, expectCost, close } = await twoProcesses();
    const hold = await owner.ledger.hold(loadHold('call_1', 500n, { at: NOON }));
    const resolve = (cost: bigint, more: Partial<CallRow>) => ({
      type: 'resolve' as const,
      callId: 'call_1',
      amount: cost,
      call: callRecord('call_1', cost, { at: NOON, ...more }),
    });
    const guess = resolve(20n, { outcome: 'interrupted', provisional: true });
    const outcomes = await watcher.store.ledger([guess, guess, { ...resolve(90n, {}), hold }, resolve(5n, {})]);
    expect(outcomes).toMatchObject([{ repeated: false }, { repeated: true }, { repeated: false }, { repeated: true }]);
    await expectCost(90n);
    await close();
  });
});
