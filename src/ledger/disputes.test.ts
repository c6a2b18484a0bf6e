/** Disputes on both engines: each is settled once, whatever decisions arrive, and the ledger stays consistent. */
import { describe, expect, test } from 'bun:test';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Audit, EntryRow } from '../store/rows.ts';
import { type DisputeDecision, disputeOf, settleDispute } from './disputes.ts';
import { ACCOUNT, callRecord, loadHold, openAccount, openTestLedger } from './random-load.ts';

const PRICE = { input: 1000n, output: 1000n };
const CLAIM: Usage = { input: 7, output: 9000, source: 'reported' };
/** 7 + 5 tokens were delivered, for 12; the hold was 100, the claim is 9007. */
const USAGE: Usage = { input: 7, output: 5, source: 'counted', claimed: { cost: '0.000009007', usage: CLAIM } };

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  async function disputed() {
    const { settings } = await engine.freshDatabase();
    const opened = await openTestLedger(settings, 'own_1');
    await openAccount(opened, 1000n);
    const { store, ledger } = opened;
    await store.savePrice({ id: 'price_1', model: 'm', components: '{}', createdAt: 1 });
    const hold = await ledger.hold(loadHold('call_1', 100n));
    await ledger.settle(hold, callRecord('call_1', 100n, { outcome: 'disputed', usage: USAGE }));
    let audits = 0;
    const audit = (): Audit<EntryRow> => (_, entry) => {
      audits++;
      return { id: `audit_${audits}`, at: 5, actor: 'a', action: 'x', subject: 'call_1', after: String(entry?.amount) };
    };
    const decide = (decision: DisputeDecision) =>
      settleDispute({ store, ledger, readPrice: () => PRICE }, 'call_1', decision, 5, audit);
    const available = async () => (await ledger.balance(ACCOUNT))?.available;
    const decided = async () => {
      const call = await store.call('call_1');
      return call && (await disputeOf(store, call))?.decision;
    };
    return { store, ledger, decide, available, decided };
  }

  test.each<[DisputeDecision, bigint]>([
    ['accept', 1000n - 9007n],
    ['reject', 1000n - 12n],
  ])(
    '%s applies once when decided ten times at the same time, and the opposite decision is refused',
    async (decision, left) => {
      const { store, decide, available, decided } = await disputed();
      expect(await available()).toBe(900n);
      expect(await decided()).toBeUndefined();
      const entries = await Promise.all(Array.from({ length: 10 }, () => decide(decision)));
      expect(new Set(entries.map(({ seq }) => seq)).size).toBe(1);
      await expect(decide(decision === 'accept' ? 'reject' : 'accept')).rejects.toMatchObject({ code: 'conflict' });
      expect(await available()).toBe(left);
      expect(await decided()).toBe(decision);
      expect((await store.audits({ limit: 9, subject: 'call_1' })).length).toBe(1);
      expect(await store.verify()).toMatchObject({ ok: true, faults: [] });
      await store.close();
    },
  );

  test('when both decisions arrive at the same time, one applies and the others are refused', async () => {
    const { store, decide, available, decided } = await disputed();
    const tries = Array.from({ length: 10 }, (_, i) => decide(i % 2 === 0 ? 'accept' : 'reject'));
    const settled = await Promise.allSettled(tries);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await available()).toBe((await decided()) === 'accept' ? 1000n - 9007n : 1000n - 12n);
    expect((await store.verify()).faults).toEqual([]);
    await store.close();
  });

  test('what was already refunded is not refunded again', async () => {
    const { store, ledger, decide, available } = await disputed();
    await ledger.topUp(ACCOUNT, 50n, { kind: 'refund', callId: 'call_1', at: 4 });
    await decide('reject');
    await decide('reject');
    expect(await available()).toBe(1000n - 12n);
    await store.close();
  });

  test('calls of one outcome are listed page by page', async () => {
    const { store, ledger } = await disputed();
    for (let i = 2; i <= 6; i++) {
      const hold = await ledger.hold(loadHold(`call_${i}`, 10n));
      const outcome = i % 2 === 0 ? 'disputed' : 'ok';
      await ledger.settle(hold, callRecord(`call_${i}`, 1n, { outcome, at: 1000 + i }));
    }
    const first = await store.calls({ outcome: 'disputed', limit: 2 });
    const rest = await store.calls({ outcome: 'disputed', limit: 9, after: first.at(-1)!.id });
    expect([...first, ...rest].map(({ id }) => id)).toEqual(['call_1', 'call_6', 'call_4', 'call_2']);
    expect(await store.calls({ outcome: 'disputed', model: 'm', limit: 9 })).toHaveLength(4);
    expect(await store.calls({ outcome: 'refused', limit: 9 })).toEqual([]);
    await store.close();
  });
});
