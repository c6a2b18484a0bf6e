/** The database engines, with a database for each test. What runs over the store runs on both. */
import { Database } from 'bun:sqlite';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { hasPostgres, testPostgres, whenGone } from './postgres.ts';

/** A database by its settings, and direct access to it. */
export interface TestDatabase {
  settings: { dataDir: string; databaseUrl?: string; leavesUnfiled?: boolean };
  tamper(text: string): Promise<void>;
}

export interface Engine {
  name: string;
  /** A new database: of Postgres with all tables, which takes it most of its time. */
  freshDatabase(): Promise<TestDatabase>;
  /** A new database without tables. */
  emptyDatabase(): Promise<TestDatabase>;
}

const folder = mkdtempSync(join(tmpdir(), 'modelport-engines-'));
whenGone(`rm -rf ${folder}`);

async function sqliteDatabase(): Promise<TestDatabase> {
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
}

const sqlite: Engine = { name: 'SQLite', freshDatabase: sqliteDatabase, emptyDatabase: sqliteDatabase };

/** The steps of the tables take longer than most tests: they are run once, and the database is copied. */
async function migrate(databaseUrl: string): Promise<void> {
  const store = await openStore({ dataDir: folder, databaseUrl });
  await store.migrate();
  await store.close();
}

async function postgresDatabase(prepare?: typeof migrate): Promise<TestDatabase> {
  const databaseUrl = await (await testPostgres()).freshDatabase(prepare);
  return {
    settings: { dataDir: folder, databaseUrl },
    async tamper(text) {
      const sql = new SQL({ url: databaseUrl, max: 1 });
      await sql.unsafe(text);
      await sql.close();
    },
  };
}

/** Calls stay unfiled until something reads them. */
async function unfiledDatabase(): Promise<TestDatabase> {
  const { settings, tamper } = await sqliteDatabase();
  return { settings: { ...settings, leavesUnfiled: true }, tamper };
}

const sqliteUnfiled: Engine = {
  name: 'SQLite, unfiled calls',
  freshDatabase: unfiledDatabase,
  emptyDatabase: unfiledDatabase,
};

const postgres: Engine = {
  name: 'Postgres',
  freshDatabase: () => postgresDatabase(migrate),
  emptyDatabase: () => postgresDatabase(),
};

// Started here, not in the first test that needs it: creating a cluster takes seconds.
if (hasPostgres) await testPostgres();

export const ENGINES: readonly Engine[] = [sqlite, ...(hasPostgres ? [postgres] : [])];

/** For tests of the ledger's rules: also with calls that SQLite leaves unfiled. */
export const LEDGER_ENGINES: readonly Engine[] = [...ENGINES, sqliteUnfiled];

/** A migrated store with its own database. */
export async function freshStore(engine: Engine): Promise<TestDatabase & { store: Store }> {
  const database = await engine.freshDatabase();
  const store = await openStore(database.settings);
  await store.migrate();
  return { ...database, store };
}
