/** Names of files survive a power failure: their folder is written to disk after them. */
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import * as fs from 'node:fs';
import { existsSync, fstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderFiles } from './folder-files.ts';
import { syncFolder, syncFolderNow } from './sync-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'modelport-sync-'));
const place = join(folder, 'data');
const file = join(place, 'es', 'image_es');
const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;
/** What was synced, and whether the file had its name then. */
let synced: { inode: number; hasName: boolean }[] = [];
let failure: Error | undefined;

function note(descriptor: number): void {
  if (!fstatSync(descriptor).isDirectory()) return;
  if (failure) throw failure;
  synced.push({ inode: fstatSync(descriptor).ino, hasName: existsSync(file) });
}

const spies: { mockRestore(): void }[] = [];
beforeAll(async () => {
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  spies.push(
    spyOn(fs, 'fsyncSync').mockImplementation(note),
    spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      note(this.fd);
    }),
  );
});
afterAll(() => {
  for (const spy of spies) spy.mockRestore();
  rmSync(folder, { recursive: true });
});

async function* pieces() {
  yield new Uint8Array(3);
}

test('the folder of a stored file, and those above it that are new', async () => {
  const files = folderFiles(place);
  await files.write('image_es', pieces(), 10);
  const folders = [join(place, 'es'), place, folder].map(inodeOf);
  expect(synced.map(({ inode }) => inode)).toEqual(folders as number[]);
  expect(synced.every(({ hasName }) => hasName)).toBe(true);
  synced = [];
  await files.write('other_es', pieces(), 10);
  expect(synced.map(({ inode }) => inode)).toEqual(folders.slice(0, 1) as number[]);
});

test('a file system that cannot do it is no failure, a broken disk is one', async () => {
  failure = Object.assign(new Error('invalid argument'), { code: 'EINVAL' });
  await syncFolder(folder);
  syncFolderNow(folder);
  failure = Object.assign(new Error('input/output error'), { code: 'EIO' });
  await expect(syncFolder(folder)).rejects.toBe(failure);
  expect(() => syncFolderNow(folder)).toThrow(failure);
  await expect(folderFiles(place).write('third_es', pieces(), 10)).rejects.toBe(failure);
});
