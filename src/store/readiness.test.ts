/** Readiness of a database: with the current schema, a newer schema, and read-only. */
import { afterAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { callRow } from '../../test/helpers/call-row.ts';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { hasPostgres, testPostgres } from '../../test/helpers/postgres.ts';
import { openStore } from './open-store.ts';
import { notReady } from './readiness.ts';
import type { HoldRow } from './rows.ts';
import type { Store } from './store.ts';

/** A migration of a newer program, one step more than this one has. */
const newerStep = (minimum: number | 'NULL') =>
  `INSERT INTO migrations (version, fingerprint, minimum) SELECT max(version) + 1, 'x', ${minimum} FROM migrations`;

const TABLES = ['accounts', 'keys', 'spendings', 'entries', 'holds', 'calls', 'call_sums', 'prices', 'models'];

describe.each(ENGINES)('readiness over $name', (engine) => {
  test('a newer schema that only adds leaves this program ready with a warning, and its calls work', async () => {
    const { store, tamper, settings } = await freshStore(engine);
    await useAll(store, 'before');
    for (const table of TABLES)
      await tamper(
        `ALTER TABLE ${table} ADD COLUMN of_tomorrow bigint DEFAULT 7`.replace(
          'bigint',
          engine.name === 'SQLite' ? 'INTEGER' : 'bigint',
        ),
      );
    await tamper(newerStep(0));
    expect(await store.ready()).toEqual({
      ready: true,
      reasons: [],
      warnings: [expect.stringContaining('newer than this Modelport')],
    });
    await useAll(store, 'after');
    expect((await store.verify()).faults).toEqual([]);
    await store.close();
    const again = await openStore(settings);
    await again.migrate();
    expect((await again.ready()).ready).toBe(true);
    await useAll(again, 'again');
    await again.close();
  });

  test.each([1_000, 'NULL'] as const)(
    'a newer schema that requires a newer program (%p) makes this one not ready',
    async (minimum) => {
      const { store, tamper } = await freshStore(engine);
      expect((await store.ready()).ready).toBe(true);
      await tamper(newerStep(minimum));
      const { ready, reasons } = await store.ready();
      expect(ready).toBe(false);
      expect(reasons).toEqual([expect.stringContaining('start a newer Modelport')]);
      await expect(store.migrate()).rejects.toThrow('start a newer Modelport');
      await store.close();
    },
  );
});

describe.skipIf(!hasPostgres)('a Postgres that accepts no writes', () => {
  test('is not ready', async () => {
    const databaseUrl = await (await testPostgres()).freshDatabase();
    const first = await openStore({ dataDir: '', databaseUrl });
    await first.migrate();
    await first.close();
    const sql = new SQL({ url: databaseUrl, max: 1 });
    await sql.unsafe(`ALTER DATABASE ${new URL(databaseUrl).pathname.slice(1)} SET default_transaction_read_only = on`);
    await sql.close();
    const store = await openStore({ dataDir: '', databaseUrl });
    expect(await store.ready()).toEqual(notReady('The database is read-only.'));
    await store.close();
  });
});

const folder = mkdtempSync(join(tmpdir(), 'modelport-read-only-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status === 0;
if (!isMounted) console.warn('No disk can be mounted here: the test of a read-only one is skipped.');
afterAll(() => {
  if (isMounted) spawnSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isMounted)('an SQLite file on a read-only disk', () => {
  test('is not ready', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'modelport-written-'));
    const written = await openStore({ dataDir });
    await written.migrate();
    // With its write-ahead log, as on a disk that became read-only while the program ran.
    cpSync(dataDir, folder, { recursive: true });
    await written.close();
    expect(spawnSync('mount', ['-o', 'remount,ro', folder]).status).toBe(0);
    const store = await openStore({ dataDir: folder });
    expect(await store.ready()).toEqual(notReady('The database is read-only.'));
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
});

/** Everything that a running program writes: an account, a key, a price, a model, money, a call. */
async function useAll(store: Store, name: string): Promise<void> {
  await store.createAccount({ id: `acc_${name}`, name, balance: 0n, held: 0n, createdAt: 1 });
  await store.createKey({
    id: `key_${name}`,
    account: `acc_${name}`,
    kind: 'caller',
    name,
    hash: name,
    last4: 'abcd',
    createdAt: 1,
  });
  await store.savePrice({ id: `price_${name}`, model: name, components: '{}', createdAt: 1 });
  await store.saveModel({
    name,
    kind: 'chat',
    priceId: `price_${name}`,
    ownedBy: 'o',
    onDisconnect: 'abort',
    createdAt: 1,
    targets: [],
  });
  const hold: HoldRow = {
    callId: `call_${name}`,
    account: `acc_${name}`,
    key: `key_${name}`,
    amount: 5n,
    model: name,
    priceId: `price_${name}`,
    at: 1,
    owner: 'o',
  };
  const { account, key, priceId } = hold;
  const call = callRow({ id: hold.callId, at: 1, account, key, model: name, cost: 3n, priceId });
  const outcomes = await store.ledger([
    { type: 'enter', account: hold.account, kind: 'top-up', amount: 10n, counter: 'cash', at: 1 },
    { type: 'hold', hold },
    { type: 'resolve', callId: hold.callId, amount: 3n, call },
  ]);
  expect(outcomes.map(({ type }) => type)).toEqual(['entered', 'held', 'resolved']);
  expect((await store.account(hold.account))?.balance).toBe(7n);
  expect((await store.models()).find((model) => model.name === name)?.kind).toBe('chat');
}
