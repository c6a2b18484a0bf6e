/** The key that signs verification checkpoints: a setting, or a file made once in the data folder. It is never in the database. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Throws if the folder can be neither read nor written. */
export function ledgerKeyOf(dataDir: string): string {
  const path = join(dataDir, FILE_NAME);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    // If several processes start at the same time, one of them makes the key.
    writeFileSync(path, `${randomBytes(BYTES).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'EEXIST') throw thrown;
  }
  return readFileSync(path, 'utf8').trim();
}
