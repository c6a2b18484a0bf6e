/** The key that encrypts providers' credentials: a setting, or a file that is made when needed. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { KeySource } from '../store/credential-cipher.ts';
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
        writeKey(path, newKey());
      } catch (thrown) {
        // Another process was first.
        if ((thrown as { code?: string }).code !== 'EEXIST') throw cannotWrite(path, thrown);
      }
      return readKey(path) ?? '';
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
  if (current !== undefined && before === undefined) writeKey(previous, current);
  const next = join(dataDir, `${FILE}.new`);
  rmSync(next, { force: true });
  writeKey(next, newKey());
  renameSync(next, path);
  return true;
}

/** Call when nothing is encrypted with it any more. */
export function forgetOldKey(dataDir: string): void {
  rmSync(join(dataDir, PREVIOUS), { force: true });
}

const newKey = () => Buffer.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES))).toString('base64url');

/** Readable by the owner only, and synced to disk: what it encrypts may be written right after. */
function writeKey(path: string, key: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${key}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

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
