import { expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { HOUR_MS } from '../canonical/time.ts';
import { ACCOUNT, callRecord, KEY, loadHold, openAccount, openTestLedger } from './random-load.ts';

const NOON = Date.UTC(2026, 10, 30, 12);
/** Longer than old leases are kept. */
const AHEAD_MS = 25 * HOUR_MS;

test.each(ENGINES)(
  '$name: two processes with clocks a day apart neither end each other’s calls nor lose money',
  async (engine) => {
    const { settings } = await engine.freshDatabase();
    let slowNow = NOON;
    const monotonic = () => slowNow - NOON;
    const slow = await openTestLedger(settings, 'own_slow', () => slowNow, { monotonic });
    const fast = await openTestLedger(settings, 'own_fast', () => slowNow + AHEAD_MS, { monotonic });
    await openAccount(slow, 1000n);
    const budget = { total: 300n, day: 200n };
    const request = (id: string, at: number) => loadHold(id, 100n, { at, budget, sentAt: at, checkpoint: 1n });
    const early = await slow.ledger.hold(request('call_slow', slowNow));
    const late = await fast.ledger.hold(request('call_fast', slowNow + AHEAD_MS));

    for (let round = 0; round < 8; round++) {
      slowNow += 10_000;
      expect(await slow.ledger.sweep(slowNow)).toBe(0);
      expect(await fast.ledger.sweep(slowNow + AHEAD_MS)).toBe(0);
    }

    await fast.ledger.settle(late, callRecord('call_fast', 100n, { at: slowNow + AHEAD_MS }));
    await slow.ledger.settle(early, callRecord('call_slow', 100n, { at: slowNow }));
    // Both are in the newest day that any process has seen, and its budget is used up.
    for (const [ledger, at] of [
      [slow.ledger, slowNow],
      [fast.ledger, slowNow + AHEAD_MS],
    ] as const) {
      await expect(ledger.hold(request(`call_${at}`, at))).rejects.toMatchObject({ code: 'budget_exhausted' });
    }
    expect(await slow.store.keySpending(KEY, slowNow)).toEqual({ total: 200n, day: 200n, month: 200n });
    expect(await fast.ledger.balance(ACCOUNT)).toEqual({ available: 800n, held: 0n });
    expect((await slow.ledger.verify()).faults).toEqual([]);
    for (const { store } of [slow, fast]) await store.close();
  },
);

test.each(ENGINES)('$name: a clock that jumps an hour ahead ends no other process’s calls', async (engine) => {
  const { settings } = await engine.freshDatabase();
  let now = NOON;
  let ms = 0;
  const owner = await openTestLedger(settings, 'own_1', () => NOON, { monotonic: () => ms });
  const jumpy = await openTestLedger(settings, 'own_2', () => now, { monotonic: () => ms });
  await openAccount(owner, 1000n);
  await owner.ledger.sweep(NOON);
  const hold = await owner.ledger.hold(loadHold('call_1', 100n, { at: NOON, sentAt: NOON, checkpoint: 1n }));
  expect(await jumpy.ledger.sweep(now)).toBe(0);
  now += HOUR_MS;
  ms += 1500;
  expect(await jumpy.ledger.sweep(now)).toBe(0);
  expect(jumpy.ledger.isFenced()).toBe(false);
  await owner.ledger.settle(hold, callRecord('call_1', 60n, { at: NOON }));
  expect((await owner.store.verify()).faults).toEqual([]);
  for (const { store } of [owner, jumpy]) await store.close();
});
