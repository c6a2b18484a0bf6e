import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { ACCOUNT, callRecord, loadHold, openAccount, openTestLedger } from './random-load.ts';

const NOON = Date.UTC(2026, 10, 30, 12);
const LEASE_MS = 3000;

describe.each(ENGINES)('$name', (engine) => {
  /** Two processes with separate clocks, which know each other only by their leases. */
  async function twoProcesses() {
    const { settings } = await engine.freshDatabase();
    const ms = { owner: 0, watcher: 0 };
    let wall = NOON;
    const now = () => wall++;
    const owner = await openTestLedger(settings, 'own_1', now, { leaseMs: LEASE_MS, monotonic: () => ms.owner });
    const watcher = await openTestLedger(settings, 'own_2', now, { leaseMs: LEASE_MS, monotonic: () => ms.watcher });
    await openAccount(owner, 1000n);
    await owner.ledger.renew();
    const hold = (id: string) => owner.ledger.hold(loadHold(id, 100n, { at: NOON, sentAt: NOON, checkpoint: 7n }));
    const close = async () => {
      expect((await owner.store.verify()).faults).toEqual([]);
      await owner.store.close();
      await watcher.store.close();
    };
    return { owner, watcher, ms, hold, close };
  }

  test('a process that could not renew its lease in time takes no calls until it has, even before another ends the lease', async () => {
    const { owner, watcher, ms, hold, close } = await twoProcesses();
    const first = await hold('call_1');
    expect(await watcher.ledger.sweep(NOON)).toBe(0);
    ms.owner = ms.watcher = LEASE_MS * 0.7;
    expect(owner.ledger.isFenced()).toBe(true);
    expect(await watcher.ledger.sweep(NOON)).toBe(0);
    await expect(hold('call_2')).rejects.toMatchObject({ code: 'database_unavailable', retryAfterSeconds: 1 });
    await owner.ledger.renew();
    expect(owner.ledger.isFenced()).toBe(false);
    ms.watcher += LEASE_MS * 0.7;
    expect(await watcher.ledger.sweep(NOON)).toBe(0);
    // No other process has ended the lease, so it continues under the same name.
    await hold('call_3');
    expect((await owner.store.holds()).map((row) => row.owner)).toEqual(['own_1#1', 'own_1#1']);
    await owner.ledger.settle(first, callRecord('call_1', 60n, { at: NOON }));
    await close();
  });

  test('an ended lease is never renewed: the process takes a new one with holds of its own', async () => {
    const { owner, watcher, ms, hold, close } = await twoProcesses();
    const first = await hold('call_1');
    expect(await watcher.ledger.sweep(NOON)).toBe(0);
    ms.owner = ms.watcher = LEASE_MS + 1;
    expect(await watcher.ledger.sweep(NOON)).toBe(1);
    expect(owner.ledger.isFenced()).toBe(true);
    await owner.ledger.renew();
    expect(owner.ledger.isFenced()).toBe(false);
    const second = await hold('call_2');
    expect(await owner.store.holds()).toMatchObject([{ callId: 'call_2', owner: 'own_1#2' }]);
    expect(await watcher.ledger.sweep(NOON)).toBe(0);
    await owner.ledger.settle(first, callRecord('call_1', 60n, { at: NOON }));
    await owner.ledger.settle(second, callRecord('call_2', 30n, { at: NOON }));
    expect(await owner.ledger.balance(ACCOUNT)).toEqual({ available: 910n, held: 0n });
    await close();
  });

  test('a hold under an ended lease can be settled by any process at once, and completed later', async () => {
    const { owner, watcher, ms, hold, close } = await twoProcesses();
    await hold('call_1');
    await watcher.ledger.sweep(NOON);
    ms.watcher = LEASE_MS + 1;
    expect(await watcher.ledger.sweep(NOON)).toBe(1);
    // Its own clock stood still, as on a suspended machine.
    const late = await hold('call_2');
    expect(await watcher.ledger.sweep(NOON)).toBe(1);
    await owner.ledger.settle(late, callRecord('call_2', 60n, { at: NOON }));
    expect(await owner.ledger.balance(ACCOUNT)).toEqual({ available: 933n, held: 0n });
    await close();
  });

  test('a lease that was renewed meanwhile is not ended', async () => {
    const { owner, watcher, ms, hold, close } = await twoProcesses();
    await hold('call_1');
    const [seen] = await watcher.store.owners();
    await owner.ledger.renew();
    expect(await watcher.store.endLease(seen?.owner ?? '', seen?.at, NOON)).toBe(false);
    ms.watcher = 1;
    expect(await watcher.ledger.sweep(NOON)).toBe(0);
    await close();
  });
});
