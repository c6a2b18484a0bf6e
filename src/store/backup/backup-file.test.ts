import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBackup, rowBatches, writeBackup } from './backup-file.ts';

const AT = '2026-11-23T12:00:00.000Z';
const header = { version: '1.2.3', at: AT, engine: 'SQLite', schema: { SQLite: 1, Postgres: 1 } } as const;
const newFolder = () => mkdtempSync(join(tmpdir(), 'modelport-backup-file-'));

/** A backup of these rows, which waits before its last one. */
function backup(path: string, rows: readonly string[], last?: Promise<void>) {
  return writeBackup(path, header, async (sink) => {
    await sink.table({ name: 'accounts', columns: ['id'] });
    await sink.rows(rows.slice(0, -1));
    await last;
    await sink.rows(rows.slice(-1));
  });
}

async function rowsOf(path: string): Promise<string[]> {
  await checkBackup(path);
  const rows: string[] = [];
  for await (const batch of rowBatches(path)) rows.push(...batch.rows);
  return rows;
}

test('of two backups to one path at the same time, the first that ends is there, whole, and the other is refused', async () => {
  const folder = newFolder();
  const path = join(folder, 'daily');
  const hold = Promise.withResolvers<void>();
  const slow = backup(path, ['["slow"]', '["slower"]'], hold.promise);
  await backup(path, ['["a"]', '["b"]']);
  expect(await rowsOf(path)).toEqual(['["a"]', '["b"]']);
  hold.resolve();
  await expect(slow).rejects.toThrow('does not overwrite');
  expect(await rowsOf(path)).toEqual(['["a"]', '["b"]']);
  expect(readdirSync(folder)).toEqual(['daily']);
});

test('what a killed run has left is removed an hour later', async () => {
  const folder = newFolder();
  const left = (name: string, secondsAgo: number) => {
    writeFileSync(join(folder, name), 'half');
    const at = Date.parse(AT) / 1000 - secondsAgo;
    utimesSync(join(folder, name), at, at);
  };
  left('daily.0123456789ab.partial', 3700);
  left('daily.under-way.partial', 60);
  left('weekly.0123456789ab.partial', 3700);
  await backup(join(folder, 'daily'), ['["a"]']);
  expect(readdirSync(folder).sort()).toEqual(['daily', 'daily.under-way.partial', 'weekly.0123456789ab.partial']);
});

test('a folder that does not exist is named', async () => {
  await expect(backup(join(newFolder(), 'none', 'daily'), ['["a"]'])).rejects.toThrow(
    /The folder .*none does not exist/,
  );
});
