/** The database engines, with a database for each test. What runs over the store runs on both. */
import { Database } from 'bun:sqlite';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { hasPostgres, testPostgres, whenGone } from './postgres.ts';

/** A database by its settings, and direct access to it. */
export interface TestDatabase {
  settings: { dataDir: string; databaseUrl?: string };
  tamper(text: string): Promise<void>;
}

export interface Engine {
  name: string;
  freshDatabase(): Promise<TestDatabase>;
}

const folder = mkdtempSync(join(tmpdir(), 'modelport-engines-'));
whenGone(`rm -rf ${folder}`);

const sqlite: Engine = {
  name: 'SQLite',
  async freshDatabase() {
    const dataDir = mkdtempSync(join(folder, 'db-'));
    return {
      settings: { dataDir },
      async tamper(text) {
        const file = new Database(join(dataDir, 'modelport.db'));
        // The thread that empties the log may hold the lock for a moment.
        file.run('PRAGMA busy_timeout = 10000');
        file.run(text);
        file.close();
      },
    };
  },
};

const postgres: Engine = {
  name: 'Postgres',
  async freshDatabase() {
    const databaseUrl = await (await testPostgres()).freshDatabase();
    return {
      settings: { dataDir: folder, databaseUrl },
      async tamper(text) {
        const sql = new SQL({ url: databaseUrl, max: 1 });
        await sql.unsafe(text);
        await sql.close();
      },
    };
  },
};

// Started here, not in the first test that needs it: creating a cluster takes seconds.
if (hasPostgres) await testPostgres();

export const ENGINES: readonly Engine[] = [sqlite, ...(hasPostgres ? [postgres] : [])];

/** A migrated store with its own database. */
export async function freshStore(engine: Engine): Promise<TestDatabase & { store: Store }> {
  const database = await engine.freshDatabase();
  const store = await openStore(database.settings);
  await store.migrate();
  return { ...database, store };
}
