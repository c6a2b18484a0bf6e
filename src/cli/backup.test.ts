import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ENGINES, type Engine, LEDGER_ENGINES, type TestDatabase } from '../../test/helpers/engines.ts';
import { type Ran, runAsProcess } from '../../test/helpers/run-as-process.ts';
import type { Files } from '../files/files.ts';
import { openFiles } from '../files/open-files.ts';
import { LOAD_ACCOUNTS, openAccount, openTestLedger } from '../ledger/random-load.ts';
import type { RowBatch } from '../store/backup/backup-store.ts';
import { SCHEMA_VERSIONS } from '../store/backup/schema-versions.ts';
import { openStore, type StoreSettings } from '../store/open-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-backup-'));
let made = 0;
const newPath = () => join(folder, `${++made}.backup`);

function modelport({ settings }: Pick<TestDatabase, 'settings'>, ...argv: string[]): Promise<Ran> {
  return runAsProcess({ address: '', adminKey: '', settings }, {}, argv);
}

/** Runs calls in a process of its own. `settled`: the costs of those that it reported, by id. */
async function startLoad(settings: StoreSettings) {
  const script = join(import.meta.dir, '..', 'ledger', 'random-load.ts');
  const child = Bun.spawn([process.execPath, script, JSON.stringify(settings), 'own_load'], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const settled = new Map<string, bigint>();
  const ended = (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const [word, id = '', cost = ''] of lines.map((line) => line.split(' ')))
        if (word === 'settled') settled.set(id, BigInt(cost));
    }
  })();
  const until = async (count: number) => {
    const deadline = performance.now() + 60_000;
    while (settled.size < count) {
      if (performance.now() > deadline) throw new Error(`${settled.size} of ${count} calls were settled.`);
      await Bun.sleep(2);
    }
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { settled, until, kill };
}

/** The rows of a backup as values, by table, in any order. */
function contentOf(path: string): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  let columns: string[] = [];
  let rows: string[] = [];
  for (const line of gunzipSync(readFileSync(path)).toString().split('\n').slice(1, -1)) {
    const value = JSON.parse(line);
    if (Array.isArray(value)) {
      const members = columns.map((column, index) => [column, value[index]] as const);
      rows.push(JSON.stringify(members.sort(([a], [b]) => (a < b ? -1 : 1))));
    } else if (value.table) {
      columns = value.columns;
      rows = [];
      tables.set(value.table, rows);
    }
  }
  for (const each of tables.values()) each.sort();
  return tables;
}

describe.each(LEDGER_ENGINES)('$name', (engine) => {
  test('a backup under load is restored on either engine with all settled calls and a clean ledger', async () => {
    const source = await engine.freshDatabase();
    const opened = await openTestLedger(source.settings, 'own_parent');
    for (const id of LOAD_ACCOUNTS) await openAccount(opened, 1_000_000_000n, id);
    // More than a double can count.
    await openAccount(opened, 9_007_199_254_740_993n, 'acc_rich');
    const load = await startLoad(source.settings);
    await load.until(100);
    const before = new Map(load.settled);
    const path = newPath();
    const backedUp = await modelport(source, 'backup', path, '--json');
    expect(backedUp).toMatchObject({ code: 0, err: '' });
    const during = load.settled.size;
    await load.until(during + 20);
    await load.kill();
    await opened.store.close();
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);

    const accounts = LOAD_ACCOUNTS.length + 1;
    const targets = source.settings.leavesUnfiled ? ENGINES.slice(0, 1) : ENGINES;
    for (const other of targets) {
      const target = await other.emptyDatabase();
      const restored = await modelport(target, 'restore', path, '--json');
      expect(restored).toMatchObject({ code: 0, err: '' });
      const report = JSON.parse(restored.out);
      expect(report).toMatchObject({ 'ledger ok': true, faults: [], accounts, rows: JSON.parse(backedUp.out).rows });
      const store = await openStore(target.settings);
      for (const [id, cost] of before) expect(await store.call(id)).toMatchObject({ cost, outcome: 'ok' });
      expect((await store.account('acc_rich'))?.balance).toBe(9_007_199_254_740_993n);
      expect((await store.calls({ limit: 1000 })).length).toBeGreaterThanOrEqual(before.size);
      await store.close();
      // What was restored is what was backed up, on the other engine too.
      const again = newPath();
      expect((await modelport(target, 'backup', again)).code).toBe(0);
      const [first, second] = [contentOf(path), contentOf(again)];
      first.delete('ledger_checkpoints');
      second.delete('ledger_checkpoints');
      expect([...second.keys()].sort()).toEqual([...first.keys()].sort());
      for (const [table, rows] of first) expect({ table, rows: second.get(table) }).toEqual({ table, rows });
      // A restored database goes on: identities continue behind the restored rows.
      const on = await openTestLedger(target.settings, 'own_later');
      await openAccount(on, 5n, 'acc_later');
      expect((await on.ledger.verify()).faults).toEqual([]);
      await on.store.close();
    }
  }, 120_000);
});

describe.each(ENGINES)('$name', (engine: Engine) => {
  test('neither a file nor a database with rows is overwritten, and a damaged backup changes nothing', async () => {
    const source = await engine.freshDatabase();
    const opened = await openTestLedger(source.settings, 'own_parent');
    await openAccount(opened, 1000n);
    await opened.store.close();
    const path = newPath();
    expect((await modelport(source, 'backup', path)).code).toBe(0);
    const bytes = readFileSync(path);

    const twice = await modelport(source, 'backup', path);
    expect(twice).toMatchObject({ code: 1, err: expect.stringContaining('does not overwrite') });
    expect(readFileSync(path)).toEqual(bytes);
    const onto = await modelport(source, 'restore', path);
    expect(onto).toMatchObject({ code: 1, err: expect.stringContaining('The database is not empty') });

    const target = await engine.emptyDatabase();
    const cut = newPath();
    writeFileSync(cut, bytes);
    truncateSync(cut, bytes.length - 20);
    const damaged = await modelport(target, 'restore', cut);
    expect(damaged).toMatchObject({ code: 1, err: expect.stringContaining('is damaged or incomplete') });
    writeFileSync(cut, 'PRAGMA');
    expect((await modelport(target, 'restore', cut)).err).toContain('is not a backup of Modelport');
    expect((await modelport(target, 'restore', newPath())).err).toContain('does not exist');

    const store = await openStore(target.settings);
    expect(await store.ready()).toMatchObject({ ready: false });
    const rows: RowBatch = { table: { name: 'accounts', columns: ['id) VALUES (1); --'] }, rows: ['[1]'] };
    const hostile = async function* () {
      yield rows;
    };
    await expect(store.restore(SCHEMA_VERSIONS, hostile())).rejects.toThrow('which is unknown');
    const newer = { SQLite: SCHEMA_VERSIONS.SQLite + 1, Postgres: SCHEMA_VERSIONS.Postgres + 1 };
    await expect(store.restore(newer, hostile())).rejects.toThrow('made by a newer Modelport');
    const older = { SQLite: SCHEMA_VERSIONS.SQLite - 1, Postgres: SCHEMA_VERSIONS.Postgres - 1 };
    await expect(store.restore(older, hostile())).rejects.toThrow('newer tables than the backup');
    await store.close();
    expect((await modelport(target, 'restore', path)).code).toBe(0);
  }, 60_000);
});

test('stored files are in the backup on request', async () => {
  const [engine] = ENGINES;
  const source = await engine!.freshDatabase();
  const files = openFiles({ folder: join(source.settings.dataDir, 'files') });
  const video = Buffer.alloc(300_000, 'film');
  await files.write('video_1', new Blob([video]).stream(), 1_000_000);
  await files.write('image_2', new Blob([]).stream(), 1_000_000);
  await (await openTestLedger(source.settings, 'own')).store.close();
  const path = newPath();
  expect(JSON.parse((await modelport(source, 'backup', path, '--files', '--json')).out)).toMatchObject({ files: 2 });
  const target = await engine!.emptyDatabase();
  expect((await modelport(target, 'restore', path)).code).toBe(0);
  const restored = openFiles({ folder: join(target.settings.dataDir, 'files') });
  expect(await new Response(restored.read('video_1', { start: 0, end: video.length })).bytes()).toEqual(
    new Uint8Array(video),
  );
  expect(await restored.size('image_2')).toBe(0);
});

test('a file that is removed while it is backed up is left out, and one that cannot be read is an error', async () => {
  const [engine] = ENGINES;
  const source = await engine!.freshDatabase();
  await (await openTestLedger(source.settings, 'own')).store.close();
  const stored = openFiles({ folder: join(source.settings.dataDir, 'files') });
  for (const name of ['video_1', 'video_2']) await stored.write(name, new Blob(['film']).stream(), 100);
  let isRemoved = true;
  const files: Files = {
    ...stored,
    read(name, range) {
      if (name === 'video_2') return stored.read(name, range);
      const gone = async () => {
        if (isRemoved) await stored.remove(name);
        throw new Error('NoSuchKey');
      };
      return new ReadableStream({ pull: gone });
    },
  };
  const edge = { address: '', adminKey: '', settings: source.settings };
  const backUp = () => runAsProcess(edge, { files: () => files }, ['backup', newPath(), '--files', '--json']);
  isRemoved = false;
  expect(await backUp()).toMatchObject({ code: 1, err: 'NoSuchKey' });
  isRemoved = true;
  expect(JSON.parse((await backUp()).out)).toMatchObject({ files: 1 });
});

test('an older backup is migrated with its rows', async () => {
  const [engine] = ENGINES;
  const { settings } = await engine!.emptyDatabase();
  const store = await openStore(settings);
  const accounts = ['id', 'name', 'balance', 'held', 'last_seq', 'last_hash', 'created_at'];
  const entries = ['account', 'seq', 'kind', 'amount', 'balance_after', 'counter', 'at', 'hash'];
  async function* rows(): AsyncGenerator<RowBatch> {
    yield { table: { name: 'accounts', columns: accounts }, rows: ['["acc_1","one",-7,0,1,"h",1]'] };
    yield { table: { name: 'entries', columns: entries }, rows: ['["acc_1",1,"charge",-7,-7,"revenue",1,"h"]'] };
  }
  await store.restore({ SQLite: 1, Postgres: 1 }, rows());
  // The second step of the schema added what accounts have spent.
  expect((await store.accountSpending('acc_1', 2)).total).toBe(7n);
  await store.close();
});
