/** The key that encrypts providers' credentials: a setting, or a file that is made when needed. */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderNow } from '../files/sync-folder.ts';
import type { KeySource } from '../store/credential-cipher.ts';
import { writeNewKeyFile } from './new-key-file.ts';
import { SettingError } from './setting-error.ts';

export interface SecretKeySettings {
  dataDir: string;
  /** Absent: the key of the file. */
  secretKey?: string;
  /** The previous key, while credentials are still encrypted with it. */
  secretKeyPrevious?: string;
}

const FILE = 'secret.key';
const PREVIOUS = 'secret.key.previous';
const KEY_BYTES = 32;

export function secretKeys({ dataDir, secretKey, secretKeyPrevious }: SecretKeySettings): KeySource {
  const path = join(dataDir, FILE);
  return {
    read() {
      const file = readKey(path);
      const before = [secretKeyPrevious, readKey(join(dataDir, PREVIOUS))];
      // When a key is set, the file's key was used before.
      const previous = secretKey === undefined ? before : [...before, file];
      return { current: secretKey ?? file, previous: previous.filter((key) => key !== undefined) };
    },
    make() {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      try {
        writeNewKeyFile(path, newKey());
      } catch (thrown) {
        // Another process was first.
        if ((thrown as { code?: string }).code !== 'EEXIST') throw cannotWrite(path, thrown);
      }
      const key = readKey(path);
      if (key !== undefined) return key;
      throw new SettingError(`The key file ${path} is empty: remove it, and a new key is made.`);
    },
  };
}

/**
 * Replaces the key in the file; the old one stays next to it until `forgetOldKey`. Continues a rotation that was interrupted. Returns
 * whether the key is in the file at all.
 */
export function rotateKeyFile({ dataDir, secretKey }: SecretKeySettings): boolean {
  if (secretKey !== undefined) return false;
  const path = join(dataDir, FILE);
  const previous = join(dataDir, PREVIOUS);
  const current = readKey(path);
  const before = readKey(previous);
  if (current !== undefined && before !== undefined && before !== current) return true;
  if (current !== undefined && before === undefined) writeNewKeyFile(previous, current);
  const next = join(dataDir, `${FILE}.new`);
  rmSync(next, { force: true });
  writeNewKeyFile(next, newKey());
  renameSync(next, path);
  syncFolderNow(dataDir);
  return true;
}

/** Call when nothing is encrypted with it any more. */
export function forgetOldKey(dataDir: string): void {
  rmSync(join(dataDir, PREVIOUS), { force: true });
}

const newKey = () => Buffer.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES))).toString('base64url');

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (thrown) {
    if ((thrown as { code?: string }).code === 'ENOENT') return undefined;
    throw new SettingError(`The key file ${path} cannot be read.`, { cause: thrown });
  }
}

function cannotWrite(path: string, cause: unknown): SettingError {
  return new SettingError(`The key file ${path} cannot be written: set MODELPORT_SECRET_KEY instead.`, { cause });
}
