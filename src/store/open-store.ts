/** Opens the store that the configuration names. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CredentialCipher } from './credential-cipher.ts';
import { openPostgresStore } from './postgres/postgres-store.ts';
import type { SqliteSync } from './sqlite/connection.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

export interface StoreSettings {
  /** Folder of the SQLite file; created if missing. */
  dataDir: string;
  /** URL of a Postgres database to use instead. */
  databaseUrl?: string | undefined;
  /** The maximum of connections of this process. */
  connections?: number | undefined;
  sync?: SqliteSync | undefined;
  /** Encrypts providers' credentials. Absent: they are stored unencrypted. */
  cipher?: CredentialCipher | undefined;
  /** For tests of SQLite: calls are left unfiled although no thread files them. */
  leavesUnfiled?: boolean | undefined;
}

const CONNECTIONS = 5;
const FILE_NAME = 'modelport.db';

/**
 * Opens SQLite in `dataDir`, or Postgres at `databaseUrl`. The schema is not migrated yet: call `migrate`.
 *
 * @example
 * const store = await openStore({ dataDir: './data' });
 * await store.migrate();
 */
export async function openStore({
  dataDir,
  databaseUrl,
  connections = CONNECTIONS,
  sync = 'normal',
  cipher,
  leavesUnfiled,
}: StoreSettings): Promise<Store> {
  if (databaseUrl) return openPostgresStore({ url: databaseUrl, connections }, cipher);
  const path = join(dataDir, FILE_NAME);
  makeFile(path);
  return openSqliteStore(path, sync, cipher, leavesUnfiled);
}

/**
 * Makes the file if it is missing, readable by its owner only, because it contains providers' credentials: SQLite gives the files beside it the
 * same mode. Throws an Error that names the path if this user cannot write there.
 */
function makeFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'ax', 0o600));
  } catch (thrown) {
    const { code, syscall } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST' && syscall === 'open') return;
    const sentence = `The database ${path} cannot be made (${code}): MODELPORT_DATA_DIR must be a folder that this user may write to.`;
    throw new Error(sentence, { cause: thrown });
  }
}
