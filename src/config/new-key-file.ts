/** Makes the files of keys. */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolderNow } from '../files/sync-folder.ts';

/**
 * Readable by the owner only, and synced to disk: what the key encrypts may be written right after. Throws if the file is there: of several
 * processes one makes it. Under its name there is the whole key or nothing, also for a process that reads it at the same time, on a full disk,
 * and if this process is killed: an empty key would be one that everybody knows.
 */
export function writeNewKeyFile(path: string, key: string): void {
  const whole = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = openSync(whole, 'wx', 0o600);
    try {
      const line = `${key}\n`;
      if (writeSync(file, line) < line.length) throw new Error('The disk takes no more bytes.');
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    give(whole, path);
    syncFolderNow(dirname(path));
  } finally {
    rmSync(whole, { force: true });
  }
}

function give(whole: string, path: string): void {
  try {
    linkSync(whole, path);
  } catch (thrown) {
    if (existsSync(path)) throw thrown;
    // A file system without links.
    renameSync(whole, path);
  }
}
