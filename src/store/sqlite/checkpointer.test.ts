import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../../../test/helpers/temp-folder.ts';
import { createCheckpointer } from './checkpointer.ts';

const folder = useTempFolder('checkpoints');

function open(name: string) {
  const path = join(folder, name);
  const file = new Database(path, { create: true });
  file.run('PRAGMA journal_mode = WAL');
  file.run('CREATE TABLE numbers (n INTEGER)');
  return { path, file };
}

const ownPages = (file: Database) =>
  file.query<{ wal_autocheckpoint: number }, []>('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint;

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !holds() && performance.now() < end; ) await Bun.sleep(10);
  expect(holds()).toBe(true);
}

test('after many writes a thread copies the log into the file, and releases it on close', async () => {
  const { path, file } = open('much');
  const checkpointer = createCheckpointer(path, file);
  const write = (n: number) => {
    checkpointer.writes();
    file.run('INSERT INTO numbers VALUES (?)', [n]);
  };
  for (let n = 1; n < 200; n++) write(n);
  await Bun.sleep(50);
  expect(ownPages(file)).toBe(4000);
  for (let n = 200; n <= 400; n++) write(n);
  await until(() => ownPages(file) === 0);
  await until(() => countAlone(path) === 400);
  await checkpointer.close();
  file.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
});

/** The rows in the file without its log; the copy is marked as a file without a log. */
function countAlone(path: string): number {
  const bytes = new Uint8Array(readFileSync(path));
  bytes[18] = 1;
  bytes[19] = 1;
  const alone = Database.deserialize(bytes);
  const hasTable = alone.query("SELECT 1 FROM sqlite_master WHERE name = 'numbers'").get() !== null;
  const count = hasTable ? alone.query<{ n: number }, []>('SELECT count(*) AS n FROM numbers').get()?.n : 0;
  alone.close();
  return count ?? 0;
}

test('without a thread the connection copies by itself', async () => {
  const { path, file } = open('alone');
  const checkpointer = createCheckpointer(path, file, new URL('./no-such-worker.ts', import.meta.url).href);
  for (let n = 0; n < 250; n++) checkpointer.writes();
  await Bun.sleep(200);
  expect(ownPages(file)).toBe(4000);
  await checkpointer.close();
  file.close();
});

test('a thread that is still starting when the store is closed is ignored', async () => {
  const { path, file } = open('soon');
  const checkpointer = createCheckpointer(path, file);
  for (let n = 0; n < 200; n++) checkpointer.writes();
  await checkpointer.close();
  file.close();
  await Bun.sleep(300);
});

test('writes to a closed database start no thread', async () => {
  const { path, file } = open('late');
  const checkpointer = createCheckpointer(path, file);
  await checkpointer.close();
  file.close();
  for (let n = 0; n < 200; n++) checkpointer.writes();
  await Bun.sleep(300);
});
