/** Opens the Store that the settings name. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openPostgresStore } from './postgres/postgres-store.ts';
import type { Sealing } from './sealing.ts';
import type { SqliteSync } from './sqlite/connection.ts';
import { openSqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

export interface StoreSettings {
  /** Folder of the database file; made where it is missing. */
  dataDir: string;
  /** A Postgres database instead. */
  databaseUrl?: string | undefined;
  /** How many connections this process may open to it. */
  connections?: number | undefined;
  sync?: SqliteSync | undefined;
  /** Encrypts providers' credentials; absent: they stand as they are. */
  sealing?: Sealing | undefined;
}

const CONNECTIONS = 5;
const FILE_NAME = 'modelport.db';

/** The Store is open, its schema as it was found: call `migrate`. */
export async function openStore({
  dataDir,
  databaseUrl,
  connections = CONNECTIONS,
  sync = 'normal',
  sealing,
}: StoreSettings): Promise<Store> {
  if (databaseUrl) return openPostgresStore({ url: databaseUrl, connections }, sealing);
  const path = join(dataDir, FILE_NAME);
  // For the owner alone: the file holds provider credentials.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSqliteStore(path, sync, sealing);
}
