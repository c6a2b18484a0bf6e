import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { LEDGER_ENGINES } from '../../test/helpers/engines.ts';
import type { StoreSettings } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Ledger } from './ledger.ts';
import { INPUT_COST, LOAD_ACCOUNTS, openAccount, openTestLedger, TWO_BATCHES } from './random-load.ts';

/** For a longer run set, for example, MODELPORT_KILLS=50. */
const KILLS = Number(process.env.MODELPORT_KILLS ?? 6);
const gone = () => 'gone' as const;

interface Load {
  /** What the process reported before it was killed, by call. */
  calls: Map<string, string[]>;
  /** Whether two of its batches ran at the same time. */
  hadTwoBatches: boolean;
}

/** Runs the load in a process of its own and kills it. */
async function loadUntilKilled(settings: StoreSettings, owner: string, lifeMs: number): Promise<Load> {
  const script = join(import.meta.dir, 'random-load.ts');
  const child = Bun.spawn([process.execPath, script, JSON.stringify(settings), owner], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let output = '';
  // The time starts with the first call, not with the process.
  let isTimed = false;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    output += decoder.decode(chunk.value, { stream: true });
    if (isTimed || !output.includes('sent ')) continue;
    isTimed = true;
    setTimeout(() => child.kill('SIGKILL'), lifeMs);
  }
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  const calls = new Map<string, string[]>();
  const lines = output.split('\n').slice(0, -1);
  for (const line of lines) {
    const [word = '', id = '', cost = ''] = line.split(' ');
    if (word !== TWO_BATCHES) calls.set(id, [word, cost]);
  }
  return { calls, hadTwoBatches: lines.includes(TWO_BATCHES) };
}

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  test(`after ${KILLS} kills at random times the ledger is consistent, and no call is charged twice or without being sent`, async () => {
    const { settings } = await engine.freshDatabase();
    const { store, ledger } = await openTestLedger(settings, 'own_parent');
    for (const account of LOAD_ACCOUNTS) await openAccount({ store, ledger }, 1_000_000_000n, account);
    let interrupted = 0;
    for (let round = 0; round < KILLS; round++) {
      const { calls, hadTwoBatches } = await loadUntilKilled(settings, `own_${round}`, 20 + Math.random() * 120);
      expect(hadTwoBatches).toBe(store.batchesAtOnce > 1);
      interrupted += await sweepAll(ledger, store);
      expect(await store.holds()).toEqual([]);
      for (const [id, [word, cost]] of calls) {
        const call = await store.call(id);
        if (word === 'settled') expect(call).toMatchObject({ outcome: 'ok', cost: BigInt(cost ?? '') });
        else expect(call?.cost).toBeGreaterThanOrEqual(INPUT_COST);
      }
    }
    expect(interrupted).toBeGreaterThan(0);
    expect(await ledger.verify()).toMatchObject({ ok: true, holds: 0, faults: [] });
    await store.close();
  }, 300_000);

  test('several processes on one database at the same time lose no step', async () => {
    const { settings } = await engine.freshDatabase();
    const { store, ledger } = await openTestLedger(settings, 'own_parent');
    for (const account of LOAD_ACCOUNTS) await openAccount({ store, ledger }, 1_000_000_000n, account);
    const loads = ['own_a', 'own_b', 'own_c'].map((owner) => loadUntilKilled(settings, owner, 300));
    for (let i = 0; i < 20; i++) {
      await ledger.topUp('acc_test', 1n, { at: i });
      await Bun.sleep(10);
    }
    const calls = (await Promise.all(loads)).flatMap(({ calls }) => [...calls]);
    await sweepAll(ledger, store);
    for (const [id] of calls) expect(await store.call(id)).toBeDefined();
    expect((await ledger.verify()).faults).toEqual([]);
    const entries = await store.entries('acc_test', { limit: 100_000 });
    expect(entries.filter(({ amount }) => amount === 1n)).toHaveLength(20);
    await store.close();
  }, 60_000);
});

/** A statement of a killed process may still run on the server. */
async function sweepAll(ledger: Ledger, store: Store): Promise<number> {
  let resolved = 0;
  for (let calm = 0; calm < 2; calm++) {
    const now = await ledger.sweep(Date.now(), gone);
    if (now > 0) calm = 0;
    resolved += now;
    if ((await store.holds()).length > 0) calm = 0;
    await Bun.sleep(5);
  }
  return resolved;
}
