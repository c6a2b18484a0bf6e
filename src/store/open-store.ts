/** Opens the Store that the settings name. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteStore, type SqliteSync } from './sqlite/sqlite-store.ts';
import type { Store } from './store.ts';

export interface StoreSettings {
  /** Folder of the database file; made where it is missing. */
  dataDir: string;
  /** A database elsewhere. */
  databaseUrl?: string | undefined;
  sync?: SqliteSync | undefined;
}

const FILE_NAME = 'modelport.db';

/** The Store is open, its schema as it was found: call `migrate`. */
export async function openStore({ dataDir, databaseUrl, sync = 'normal' }: StoreSettings): Promise<Store> {
  if (databaseUrl) {
    throw new Error(
      'DATABASE_URL is set, but this version stores in SQLite only: leave it out to use the data folder.',
    );
  }
  const path = join(dataDir, FILE_NAME);
  // For the owner alone: the file holds vendor credentials.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSqliteStore(path, sync);
}
