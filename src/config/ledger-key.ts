/** The key that signs verification checkpoints: a setting, or a file made once in the data folder. It is never in the database. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeNewKeyFile } from './new-key-file.ts';
import { SettingError } from './setting-error.ts';

const FILE_NAME = 'ledger.key';
const LEAST_CHARACTERS = 32;
const BYTES = 32;

export function checkLedgerKey(key: string): string {
  if (key.length >= LEAST_CHARACTERS) return key;
  throw new SettingError(
    `MODELPORT_LEDGER_KEY must have at least ${LEAST_CHARACTERS} characters: "openssl rand -hex 32" makes one.`,
  );
}

/** Throws if the folder can be neither read nor written, or the file has no whole key. */
export function ledgerKeyOf(dataDir: string): string {
  const path = join(dataDir, FILE_NAME);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    // If several processes start at the same time, one of them makes the key.
    writeNewKeyFile(path, randomBytes(BYTES).toString('base64url'));
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'EEXIST') throw thrown;
  }
  const key = readFileSync(path, 'utf8').trim();
  if (key.length >= LEAST_CHARACTERS) return key;
  throw new SettingError(`The key file ${path} is cut off: remove it, and a new key is made.`);
}
