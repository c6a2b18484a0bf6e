/** The key that verified books are signed with: given by a setting, or made once in the data folder. Never in the database. */
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
    `MODELPORT_LEDGER_KEY must have ${LEAST_CHARACTERS} characters at least: "openssl rand -hex 32" makes one.`,
  );
}

/** Throws where the folder can neither be read nor written. */
export function ledgerKeyOf(dataDir: string): string {
  const path = join(dataDir, FILE_NAME);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    // Of several processes that begin at once one makes it.
    writeFileSync(path, `${randomBytes(BYTES).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'EEXIST') throw thrown;
  }
  return readFileSync(path, 'utf8').trim();
}
