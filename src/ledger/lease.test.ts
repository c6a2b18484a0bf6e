import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/engines.ts';
import { ACCOUNT, callRecord, holdRequest, openAccount, openBooks } from './random-load.ts';

const NOON = Date.UTC(2026, 10, 30, 12);
const LEASE_MS = 3000;

describe.each(ENGINES)('$name', (engine) => {
  /** Two processes with clocks of their own; nobody can tell about the other but by its lease. */
  async function twoProcesses() {
    const { settings } = await engine.freshDatabase();
    const ms = { owner: 0, watcher: 0 };
    let wall = NOON;
    const now = () => wall++;
    const owner = await openBooks(settings, 'own_1', now, { leaseMs: LEASE_MS, monotonic: () => ms.owner });
    const watcher = await openBooks(settings, 'own_2', now, { leaseMs: LEASE_MS, monotonic: () => ms.watcher });
    await openAccount(owner, 1000n);
    await owner.ledger.renew();
    const hold = (id: string) => owner.ledger.hold(holdRequest(id, 100n, { at: NOON, sentAt: NOON, checkpoint: 7n }));
    const close = async () => {
      expect((await owner.store.verify()).faults).toEqual([]);
      await owner.store.close();
      await watcher.store.close();
    };
    return { owner, watcher, ms, hold, close };
  }

  test('who could not renew its lease in time takes no calls until it has, before anybody ends it', async () => {
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
    // Nobody has ended it: it goes on under the same name.
    await hold('call_3');
    expect((await owner.store.holds()).map((row) => row.owner)).toEqual(['own_1#1', 'own_1#1']);
    await owner.ledger.settle(first, callRecord('call_1', 60n, { at: NOON }));
    await close();
  });

  test('a lease that was ended is never renewed: the next one begins, whose calls are its own', async () => {
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

  test('a hold that lands under an ended lease is anybody’s at once, and is completed all the same', async () => {
    const { owner, watcher, ms, hold, close } = await twoProcesses();
    await hold('call_1');
    await watcher.ledger.sweep(NOON);
    ms.watcher = LEASE_MS + 1;
    expect(await watcher.ledger.sweep(NOON)).toBe(1);
    // Its own clock stood still, as that of a machine that slept.
    const late = await hold('call_2');
    expect(await watcher.ledger.sweep(NOON)).toBe(1);
    await owner.ledger.settle(late, callRecord('call_2', 60n, { at: NOON }));
    expect(await owner.ledger.balance(ACCOUNT)).toEqual({ available: 933n, held: 0n });
    await close();
  });

  test('the watcher’s word comes too late where the lease was renewed meanwhile', async () => {
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
