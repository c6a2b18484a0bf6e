import { describe, expect, test } from 'bun:test';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Audit, EntryRow } from '../store/rows.ts';
import { createLedger } from './prepaid-ledger.ts';
import { ACCOUNT, callRecord, loadHold, openAccount, openTestLedger } from './random-load.ts';
import { hashCode, issueCode } from './redemption-code.ts';
import { type ChargeDifference, enterCorrection, replay } from './replay.ts';

/** With this price, 7 input and 5 output tokens cost 17,000 nano-USD. */
const PRICE = { input: 1_000_000n, output: 2_000_000n };
const NOON = Date.UTC(2026, 10, 30, 12);

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  async function openWith(amount: bigint) {
    const { settings } = await engine.freshDatabase();
    const opened = await openTestLedger(settings, 'own_1', () => NOON);
    await openAccount(opened, amount);
    const { ledger } = opened;
    const call = async (id: string, cost: bigint, more = {}) => {
      const hold = await ledger.hold(loadHold(id, cost, { at: NOON }));
      await ledger.settle(hold, callRecord(id, cost, { at: NOON, ...more }));
    };
    return { ...opened, settings, call };
  }

  test('a call is refunded up to its cost, and only to its own account', async () => {
    const { store, ledger, call } = await openWith(1000n);
    await openAccount({ store, ledger }, 0n, 'acc_other');
    await call('call_1', 300n);
    const refund = (amount: bigint, more = {}) =>
      ledger.topUp(ACCOUNT, amount, { kind: 'refund', callId: 'call_1', at: NOON, ...more });
    expect(await refund(100n)).toMatchObject({
      kind: 'refund',
      counter: 'revenue',
      balanceAfter: 800n,
      callId: 'call_1',
    });
    const [first, second] = await Promise.allSettled([refund(150n), refund(51n)]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ reason: { code: 'invalid_request', param: 'amount' } });
    await expect(refund(51n)).rejects.toThrow('0.00000005 USD can still be refunded');
    await expect(refund(1n, { callId: 'call_2' })).rejects.toMatchObject({ code: 'not_found' });
    const foreign = ledger.topUp('acc_other', 1n, { kind: 'refund', callId: 'call_1', at: NOON });
    await expect(foreign).rejects.toMatchObject({ code: 'not_found' });
    expect(await ledger.topUp(ACCOUNT, -50n, { kind: 'adjustment', note: 'n', at: NOON })).toMatchObject({
      balanceAfter: 900n,
    });
    const { faults, counters } = await ledger.verify();
    expect(faults).toEqual([]);
    expect(counters).toEqual({ cash: -1000n, revenue: 50n, adjustments: 50n });
    await store.close();
  });

  test('a balance above the maximum is refused', async () => {
    const { store, ledger } = await openWith(2n ** 62n);
    await expect(ledger.topUp(ACCOUNT, 1n, { at: NOON })).rejects.toMatchObject({ code: 'invalid_request' });
    await ledger.topUp(ACCOUNT, -1n, { kind: 'adjustment', note: 'n', at: NOON });
    expect(await ledger.balance(ACCOUNT)).toEqual({ available: 2n ** 62n - 1n, held: 0n });
    const hold = await ledger.hold(loadHold('call_1', 500n));
    await ledger.settle(hold, callRecord('call_1', 2n ** 80n));
    expect((await store.call('call_1'))?.cost).toBe(500n);
    expect((await ledger.verify()).faults).toEqual([]);
    await store.close();
  });

  test('when several processes redeem one code, one account gets it, and repeating returns its first entry', async () => {
    const { store, ledger, settings } = await openWith(0n);
    const others = await Promise.all(['own_2', 'own_3'].map((owner) => openTestLedger(settings, owner, () => NOON)));
    const parties = [{ store, ledger }, ...others];
    for (const [index] of parties.entries()) await openAccount({ store, ledger }, 0n, `acc_${index}`);
    const { code, hash, last4 } = issueCode();
    await store.createCode({ id: 'code_1', hash, last4, amount: 500n, createdAt: NOON });
    await store.createCode({ id: 'code_2', hash: 'old', last4: 'abcd', amount: 500n, createdAt: 1, expiresAt: NOON });
    const redeemed = await Promise.allSettled(
      parties.flatMap((party, index) =>
        [0, 1, 2].map(() => party.ledger.redeem(`acc_${index}`, hashCode(` ${code}\n`), NOON)),
      ),
    );
    const entries = redeemed.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = redeemed.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(entries).toHaveLength(3);
    for (const entry of entries) expect(entry).toEqual(entries[0]!);
    for (const refusal of refused) expect(refusal).toMatchObject({ code: 'conflict' });
    expect(entries[0]).toMatchObject({ kind: 'redemption', counter: 'codes', amount: 500n });
    expect(await store.codes({ limit: 1 })).toMatchObject([{ redeemedBy: entries[0]?.account, redeemedAt: NOON }]);
    await expect(ledger.redeem('acc_0', 'old', NOON)).rejects.toThrow('expired');
    await expect(ledger.redeem('acc_0', hashCode('guess'), NOON)).rejects.toMatchObject({ code: 'not_found' });
    expect((await ledger.verify()).faults).toEqual([]);
    for (const party of parties) await party.store.close();
  });

  test('a code requested several times at once is created and audited once', async () => {
    const { store } = await openWith(0n);
    const newCode = (index: number) => ({ id: `code_${index}`, hash: 'h', last4: 'abcd', amount: 5n, createdAt: NOON });
    const audit = (index: number) => () => ({
      id: `audit_${index}`,
      at: NOON,
      actor: 'a',
      action: 'made',
      subject: 's',
    });
    const made = await Promise.all([0, 1, 2, 3].map((i) => store.createCode(newCode(i), audit(i), 'order 7')));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await store.createCode({ ...newCode(9), hash: 'other', amount: 6n }, audit(9), 'order 7')).toEqual(made[0]!);
    expect(await store.codes({ limit: 9 })).toEqual([made[0]!]);
    expect((await store.audits({ limit: 9 })).filter(({ action }) => action === 'made')).toHaveLength(1);
    await expect(store.createCode(newCode(9))).rejects.toThrow('already exists');
    await store.close();
  });

  test('bills are recomputed from usage and price, and each correction is entered once', async () => {
    const { store, ledger, call } = await openWith(100_000n);
    await store.savePrice({ id: 'price_1', model: 'm', components: '{}', createdAt: 1 });
    await call('call_1', 17_000n);
    await call('call_2', 20_000n);
    await call('call_3', 10_000n);
    await call('call_4', 9n, { usage: undefined });
    const absurd = await ledger.hold(loadHold('call_5', 5n, { at: NOON }));
    const usage: Usage = { input: 1e15, output: 1e15, source: 'reported' };
    await ledger.settle(absurd, callRecord('call_5', 10n ** 17n, { at: NOON, usage }));
    const run = async () => {
      const found: ChargeDifference[] = [];
      const options = { from: NOON, to: NOON + 1, readPrice: () => PRICE };
      const replayed = await replay(store, { ...options, found: (one) => void found.push(one) });
      return { replayed, found };
    };
    const { replayed, found } = await run();
    expect(replayed).toEqual({ calls: 5, skipped: 2, differences: 2 });
    const listed = found.map(({ call: { id }, charged, due }) => [id, charged, due]);
    expect(listed).toEqual([
      ['call_3', 10_000n, 17_000n],
      ['call_2', 20_000n, 17_000n],
    ]);
    const audit: Audit<EntryRow> = (_, entry) => ({
      id: `audit_${entry?.seq}`,
      at: NOON,
      actor: 'cli',
      action: 'account.adjusted',
      subject: `${entry?.callId}`,
    });
    for (const difference of [...found, ...found]) await enterCorrection(ledger, difference, NOON, audit);
    expect(await store.audits({ limit: 9 })).toMatchObject([{ subject: 'call_2' }, { subject: 'call_3' }]);
    expect((await run()).found).toEqual([]);
    expect((await ledger.balance(ACCOUNT))?.available).toBe(100_000n - 3n * 17_000n - 9n - 5n);
    expect((await ledger.verify()).faults).toEqual([]);
    await store.close();
  });

  test('a hold whose commit was not confirmed is released, without affecting other calls', async () => {
    const { store } = await openWith(1000n);
    let answers = true;
    const deaf = {
      ...store,
      async ledger(steps: Parameters<typeof store.ledger>[0]) {
        const outcomes = await store.ledger(steps);
        if (!answers) throw new Error('connection lost');
        return outcomes;
      },
    };
    const ledger = createLedger({ store: deaf, owner: 'own_deaf', now: () => NOON });
    const kept = await ledger.hold(loadHold('call_1', 100n, { at: NOON, sentAt: NOON, checkpoint: 7n }));
    answers = false;
    const lost = ledger.hold(loadHold('call_2', 100n, { at: NOON, sentAt: NOON, checkpoint: 7n }));
    await expect(lost).rejects.toThrow('connection lost');
    answers = true;
    expect(await store.holds()).toHaveLength(2);
    expect(await ledger.sweep(NOON)).toBe(1);
    expect(await store.holds()).toMatchObject([{ callId: 'call_1' }]);
    expect(await store.call('call_2')).toMatchObject({ outcome: 'failed', cost: 0n, status: 503 });
    await ledger.settle(kept, callRecord('call_1', 60n));
    expect((await store.verify()).faults).toEqual([]);
    await store.close();
  });

  test('a settlement waits until the store is back, and reports success then', async () => {
    const { store } = await openWith(1000n);
    let away = 0;
    const flaky = {
      ...store,
      ledger: (steps: Parameters<typeof store.ledger>[0]) =>
        away-- > 0 ? Promise.reject(new Error('away')) : store.ledger(steps),
    };
    const ledger = createLedger({ store: flaky, owner: 'own_flaky', now: () => NOON });
    const hold = await ledger.hold(loadHold('call_1', 100n, { at: NOON }));
    away = 3;
    await ledger.settle(hold, callRecord('call_1', 60n));
    expect(await store.call('call_1')).toMatchObject({ cost: 60n });
    await store.close();
  });
});
