import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INPUT_COST, openAccount, openBooks } from './random-load.ts';

const MINUTE_MS = 60_000;

/** Runs the load in a process of its own and kills it; returns what it told before it died, by call. */
async function loadUntilKilled(dataDir: string, owner: string, lifeMs: number): Promise<Map<string, string[]>> {
  const script = join(import.meta.dir, 'random-load.ts');
  const child = Bun.spawn([process.execPath, script, dataDir, owner], { stdout: 'pipe', stderr: 'inherit' });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let told = '';
  // The clock starts with the first call, not with the process.
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    if (told === '') setTimeout(() => child.kill('SIGKILL'), lifeMs);
    told += decoder.decode(chunk.value, { stream: true });
  }
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  const calls = new Map<string, string[]>();
  for (const line of told.split('\n').slice(0, -1)) {
    const [word = '', id = '', cost = ''] = line.split(' ');
    calls.set(id, [word, cost]);
  }
  return calls;
}

test('killed at random moments, the books agree and no call is charged twice or for nothing', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'modelport-crash-'));
  const { store, ledger } = await openBooks(dataDir, 'own_parent');
  await openAccount({ store, ledger }, 1_000_000_000n);
  let interrupted = 0;
  for (let round = 0; round < 10; round++) {
    const told = await loadUntilKilled(dataDir, `own_${round}`, 20 + Math.random() * 120);
    interrupted += await ledger.sweep(Date.now() + MINUTE_MS);
    expect(await store.holds()).toEqual([]);
    for (const [id, [word, cost]] of told) {
      const call = await store.call(id);
      if (word === 'settled') expect(call).toMatchObject({ outcome: 'ok', cost: BigInt(cost ?? '') });
      else expect(call?.cost).toBeGreaterThanOrEqual(INPUT_COST);
    }
  }
  expect(interrupted).toBeGreaterThan(0);
  expect(await ledger.verify()).toMatchObject({ ok: true, holds: 0, faults: [] });
  await store.close();
  rmSync(dataDir, { recursive: true });
}, 30_000);

test('two processes on one database at once: every step of both is in, none is lost', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'modelport-two-'));
  const { store, ledger } = await openBooks(dataDir, 'own_parent');
  await openAccount({ store, ledger }, 1_000_000_000n);
  const loads = [loadUntilKilled(dataDir, 'own_a', 300), loadUntilKilled(dataDir, 'own_b', 300)];
  for (let i = 0; i < 20; i++) {
    await ledger.topUp('acc_test', 1n, { at: i });
    await Bun.sleep(10);
  }
  const told = (await Promise.all(loads)).flatMap((calls) => [...calls]);
  await ledger.sweep(Date.now() + MINUTE_MS);
  for (const [id] of told) expect(await store.call(id)).toBeDefined();
  expect((await ledger.verify()).faults).toEqual([]);
  const entries = await store.entries('acc_test', { limit: 100_000 });
  expect(entries.filter(({ amount }) => amount === 1n)).toHaveLength(20);
  await store.close();
  rmSync(dataDir, { recursive: true });
}, 30_000);
