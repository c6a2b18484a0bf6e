/**
 * Holds whose commit was not confirmed: their calls were refused, so they cost nothing, whenever they appear and whichever process finds
 * them.
 */
import { describe, expect, test } from 'bun:test';
import { freshStore, LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import { databaseUnavailable } from '../store/readiness.ts';
import { createLedger } from './prepaid-ledger.ts';
import { ACCOUNT, callRecord, loadHold, openAccount } from './random-load.ts';

const NOON = Date.UTC(2026, 10, 30, 12);
const LEASE_MS = 3000;
const SENT = { at: NOON, sentAt: NOON, checkpoint: 7n };

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  /** A process whose connection breaks before the answer, or before the server has executed the statement. */
  async function brokenOff() {
    const { store } = await freshStore(engine);
    const link = { state: 'well' as 'well' | 'deaf' | 'slow', looks: 0, late: [] as (() => Promise<unknown>)[] };
    const ms = { owner: 0, watcher: 0 };
    const broken = {
      ...store,
      holds(...args: Parameters<typeof store.holds>) {
        link.looks++;
        return store.holds(...args);
      },
      async ledger(...args: Parameters<typeof store.ledger>) {
        if (link.state === 'slow') link.late.push(() => store.ledger(...args));
        else if (link.state === 'well') return store.ledger(...args);
        else await store.ledger(...args);
        throw databaseUnavailable(new Error('connection lost'));
      },
    };
    const settings = { now: () => NOON, leaseMs: LEASE_MS };
    const ledger = createLedger({ ...settings, store: broken, owner: 'own_1', monotonic: () => ms.owner });
    const watcher = createLedger({ ...settings, store, owner: 'own_2', monotonic: () => ms.watcher });
    await openAccount({ store, ledger }, 1000n);
    await ledger.renew();
    const refused = async (id: string) => {
      await expect(ledger.hold(loadHold(id, 100n, SENT))).rejects.toMatchObject({ code: 'database_unavailable' });
      link.state = 'well';
    };
    async function expectFree() {
      expect(await store.holds()).toEqual([]);
      expect(await store.call('call_1')).toMatchObject({ outcome: 'failed', status: 503, cost: 0n });
      expect(await ledger.balance(ACCOUNT)).toEqual({ available: 1000n, held: 0n });
      expect((await store.verify()).faults).toEqual([]);
      await store.close();
    }
    return { store, ledger, watcher, link, ms, refused, expectFree };
  }

  test('a hold found first by a process that assumes this one is dead costs nothing', async () => {
    const { store, ledger, watcher, link, ms, refused, expectFree } = await brokenOff();
    link.state = 'deaf';
    await refused('call_1');
    await watcher.sweep(NOON);
    ms.watcher = ms.owner = LEASE_MS + 1;
    expect(await watcher.sweep(NOON)).toBe(1);
    expect(await store.call('call_1')).toMatchObject({ outcome: 'interrupted', cost: 7n, provisional: true });
    await ledger.sweep(NOON);
    await expectFree();
  });

  test('a hold that appears after the process has looked for it costs nothing', async () => {
    const { ledger, link, refused, expectFree } = await brokenOff();
    link.state = 'slow';
    await refused('call_1');
    expect(await ledger.sweep(NOON)).toBe(0);
    const [land] = link.late;
    await land?.();
    expect(await ledger.sweep(NOON)).toBe(1);
    await expectFree();
  });

  test('a hold of a call that continues is not touched', async () => {
    const { store, ledger, link, refused, expectFree } = await brokenOff();
    const kept = await ledger.hold(loadHold('call_2', 100n, SENT));
    link.state = 'deaf';
    await refused('call_1');
    expect(await ledger.sweep(NOON)).toBe(1);
    expect(await store.holds()).toMatchObject([{ callId: 'call_2' }]);
    await ledger.settle(kept, callRecord('call_2', 0n, { at: NOON }));
    await expectFree();
  });

  test('the search ends after some time', async () => {
    const { store, ledger, link, ms, refused } = await brokenOff();
    link.state = 'slow';
    await refused('call_1');
    await ledger.sweep(NOON);
    expect(link.looks).toBe(1);
    link.looks = 0;
    ms.owner = 3_600_000;
    await ledger.sweep(NOON);
    expect(link.looks).toBe(0);
    await store.close();
  });
});
