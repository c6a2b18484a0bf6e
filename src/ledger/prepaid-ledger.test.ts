import { describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../../test/helpers/temp-folder.ts';
import { DAY_MS } from '../canonical/time.ts';
import type { LedgerStep } from '../store/rows.ts';
import { createLedger } from './prepaid-ledger.ts';
import { ACCOUNT, callRecord, KEY, loadHold, openAccount, openTestLedger } from './random-load.ts';

const folder = useTempFolder('ledger');

const NOON = Date.UTC(2026, 10, 30, 12);

async function openWith(amount: bigint) {
  const opened = await openTestLedger({ dataDir: mkdtempSync(join(folder, 'books-')) }, 'own_1', () => NOON);
  await openAccount(opened, amount);
  return { ...opened, settled: () => expectSettled(opened) };
}

async function expectSettled({ store, ledger }: Awaited<ReturnType<typeof openTestLedger>>) {
  expect(await ledger.verify()).toMatchObject({ faults: [], holds: 0 });
  await store.close();
}

describe('holds', () => {
  test('of 10,000 concurrent holds exactly those that the balance covers succeed', async () => {
    const { ledger, settled } = await openWith(700_000n);
    const pending = Array.from({ length: 10_000 }, (_, i) => ledger.hold(loadHold(`call_${i}`, 1000n)));
    const results = await Promise.allSettled(pending);
    const holds = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(holds).toHaveLength(700);
    expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({
      code: 'insufficient_balance',
      message:
        'This call may cost up to 0.000001 USD, the balance has 0 USD available: top up, or ask for less output.',
    });
    expect(await ledger.balance(ACCOUNT)).toEqual({ available: 0n, held: 700_000n });
    await Promise.all(holds.map((hold, i) => ledger.settle(hold, callRecord(hold.callId, BigInt(i)))));
    expect(await ledger.balance(ACCOUNT)).toEqual({ available: 700_000n - (699n * 700n) / 2n, held: 0n });
    await settled();
  });

  test('a second settlement changes nothing, whatever its amount', async () => {
    const { store, ledger, settled } = await openWith(1000n);
    const hold = await ledger.hold(loadHold('call_1', 500n));
    await Promise.all([ledger.settle(hold, callRecord('call_1', 300n)), ledger.settle(hold, callRecord('call_1', 0n))]);
    await ledger.settle(hold, callRecord('call_1', 400n));
    expect(await ledger.balance(ACCOUNT)).toEqual({ available: 700n, held: 0n });
    expect((await store.call('call_1'))?.cost).toBe(300n);
    await settled();
  });

  test('a cost above the hold is charged in full, and a negative balance admits no further call', async () => {
    const { ledger, settled } = await openWith(1000n);
    const hold = await ledger.hold(loadHold('call_1', 1000n));
    await ledger.settle(hold, callRecord('call_1', 1250n));
    expect(await ledger.balance(ACCOUNT)).toEqual({ available: -250n, held: 0n });
    await expect(ledger.hold(loadHold('call_2', 0n))).rejects.toMatchObject({ code: 'insufficient_balance' });
    await settled();
  });

  test('negative amounts and unknown accounts are refused', async () => {
    const { ledger, settled } = await openWith(1000n);
    await expect(ledger.hold(loadHold('call_1', -1n))).rejects.toThrow('negative cost');
    await expect(ledger.hold(loadHold('call_1', 1n, { account: 'nobody' }))).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(ledger.topUp('nobody', 1n, { at: 1 })).rejects.toMatchObject({ code: 'not_found' });
    expect(await ledger.balance('nobody')).toBeUndefined();
    await settled();
  });
});

describe('budgets of a key', () => {
  test('holds plus spending stay within the total, the day and the month', async () => {
    const { store, ledger, settled } = await openWith(1_000_000n);
    const budget = { total: 1000n, month: 700n, day: 500n };
    let at = NOON - DAY_MS;
    let count = 0;
    const call = async (amount: bigint, cost: bigint) => {
      const id = `call_${count++}`;
      const hold = await ledger.hold(loadHold(id, amount, { at, budget }));
      await ledger.settle(hold, callRecord(id, cost, { at }));
    };
    await call(500n, 400n);
    await expect(call(101n, 1n)).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await store.keySpending(KEY, at)).toEqual({ total: 400n, month: 400n, day: 400n });
    at = NOON; // The next day is still in November.
    await expect(call(301n, 1n)).rejects.toMatchObject({ code: 'budget_exhausted' });
    await call(300n, 250n);
    at = NOON + DAY_MS; // Now it is December.
    expect(await store.keySpending(KEY, at)).toEqual({ total: 650n, month: 0n, day: 0n });
    await expect(call(351n, 1n)).rejects.toThrow('has 0.00000035 USD left');
    await call(350n, 350n);
    await expect(call(1n, 1n)).rejects.toMatchObject({ code: 'budget_exhausted' });
    await settled();
  });

  test('concurrent calls of one key never hold more than its budget', async () => {
    const { ledger, settled } = await openWith(1_000_000n);
    const pending = Array.from({ length: 100 }, (_, i) =>
      ledger.hold(loadHold(`call_${i}`, 10n, { budget: { day: 255n } })),
    );
    const holds = (await Promise.allSettled(pending)).flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []));
    expect(holds).toHaveLength(25);
    await Promise.all(holds.map((hold) => ledger.settle(hold, callRecord(hold.callId, 0n))));
    await settled();
  });
});

describe('entries', () => {
  test('repeating an idempotency key returns the first entry, in one batch or later', async () => {
    const { ledger, settled } = await openWith(0n);
    const detail = { at: 5, idempotencyKey: 'k', note: 'n' };
    const [first, second] = await Promise.all([ledger.topUp(ACCOUNT, 5n, detail), ledger.topUp(ACCOUNT, 5n, detail)]);
    expect(second).toEqual(first);
    expect(await ledger.topUp(ACCOUNT, 5n, { ...detail, at: 9 })).toEqual(first);
    for (const other of [{ amount: 6n }, { note: 'another' }, { kind: 'adjustment' as const }]) {
      const { amount = 5n, ...changed } = { ...detail, ...other } as typeof detail & { amount?: bigint };
      await expect(ledger.topUp(ACCOUNT, amount, changed)).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(first).toMatchObject({ seq: 1, amount: 5n, balanceAfter: 5n, kind: 'top-up', counter: 'cash', note: 'n' });
    const refund = await ledger.topUp(ACCOUNT, 2n, { at: 6, kind: 'refund' });
    expect(refund).toMatchObject({ seq: 2, balanceAfter: 7n, counter: 'revenue' });
    await settled();
  });
});

describe('sweep', () => {
  test('a sweep never resolves holds of an owner known to be alive', async () => {
    const { store, ledger } = await openWith(1000n);
    await ledger.sweep(NOON);
    await ledger.hold(loadHold('call_1', 100n, { at: NOON, sentAt: NOON, checkpoint: 7n }));
    let ms = 0;
    const heir = createLedger({ store, owner: 'own_heir', now: () => NOON, monotonic: () => ms });
    expect(await heir.sweep(NOON, () => 'alive')).toBe(0);
    ms = 240_000;
    expect(await heir.sweep(NOON, () => 'alive')).toBe(0);
    expect(await heir.sweep(NOON)).toBe(1);
  });

  test('a sweep retries settlements that the store refused', async () => {
    const { store } = await openWith(1000n);
    let isFull = false;
    const flaky = {
      ...store,
      ledger: (steps: readonly LedgerStep[]) => (isFull ? Promise.reject(new Error('disk full')) : store.ledger(steps)),
    };
    const ledger = createLedger({ store: flaky, owner: 'own_flaky', now: () => NOON, patienceMs: 20 });
    const hold = await ledger.hold(loadHold('call_1', 100n, { at: NOON }));
    isFull = true;
    await expect(ledger.settle(hold, callRecord('call_1', 60n))).rejects.toThrow('disk full');
    isFull = false;
    await ledger.sweep(NOON);
    expect(await store.call('call_1')).toMatchObject({ cost: 60n });
    expect((await store.verify()).faults).toEqual([]);
  });

  test('a sweep resolves holds of an owner known to be gone at once, and never its own', async () => {
    const { store, ledger } = await openWith(1000n);
    await ledger.hold(loadHold('call_1', 100n, { at: NOON, sentAt: NOON, checkpoint: 7n }));
    const heir = createLedger({ store, owner: 'own_heir', now: () => NOON });
    expect(await ledger.sweep(NOON, () => 'gone')).toBe(0);
    expect(await heir.sweep(NOON, () => 'gone')).toBe(1);
    expect(await store.call('call_1')).toMatchObject({ outcome: 'interrupted', cost: 7n });
    expect((await store.verify()).faults).toEqual([]);
  });

  test('a sweep releases a dead process’s unsent calls, and charges sent ones at their checkpoint', async () => {
    const { store, ledger } = await openWith(1000n);
    const later = NOON + 60_000;
    await ledger.sweep(NOON);
    const [waiting, sent] = [loadHold('call_1', 100n, { at: NOON }), loadHold('call_2', 100n, { at: NOON })];
    await ledger.hold(waiting);
    const hold = await ledger.hold(sent);
    await ledger.sent(hold, NOON, 7n);
    ledger.checkpoint(hold, 30n);
    ledger.checkpoint(hold, 20n);
    await ledger.flush();
    expect(await ledger.sweep(NOON)).toBe(0);
    let ms = 0;
    const heir = createLedger({ store, owner: 'own_heir', now: () => later, monotonic: () => ms });
    expect(await heir.sweep(later)).toBe(0);
    ms = 31_000;
    expect(await heir.sweep(later)).toBe(2);
    expect(await store.call('call_1')).toMatchObject({ outcome: 'interrupted', cost: 0n, attempts: 0 });
    expect(await store.call('call_2')).toMatchObject({ outcome: 'interrupted', cost: 20n, attempts: 1 });
    expect(await ledger.balance(ACCOUNT)).toEqual({ available: 980n, held: 0n });
    await expectSettled({ store, ledger });
  });
});
