/** The database engines, with a database for each test. What runs over the store runs on both. */
import { Database } from 'bun:sqlite';
import { afterAll, expect } from 'bun:test';
import { copyFileSync, mkdtempSync } from 'node:fs';
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
  /** A new database with all tables. */
  freshDatabase(): Promise<TestDatabase>;
  /** A new database without tables. */
  emptyDatabase(): Promise<TestDatabase>;
}

const folder = mkdtempSync(join(tmpdir(), 'modelport-engines-'));
whenGone(`rm -rf ${folder}`);
const SQLITE_FILE = 'modelport.db';

async function sqliteDatabase(prepared?: string): Promise<TestDatabase> {
  const dataDir = mkdtempSync(join(folder, 'db-'));
  if (prepared !== undefined) copyFileSync(join(prepared, SQLITE_FILE), join(dataDir, SQLITE_FILE));
  return {
    settings: { dataDir },
    async tamper(text) {
      const file = new Database(join(dataDir, SQLITE_FILE));
      // The thread that empties the log may hold the lock for a moment.
      file.run('PRAGMA busy_timeout = 10000');
      file.run(text);
      file.close();
    },
  };
}

/** The steps of the tables take longer than most tests: they are run once, and the database is copied. */
async function migrate(settings: TestDatabase['settings']): Promise<void> {
  const store = await openStore(settings);
  await store.migrate();
  await store.close();
}

let prepared: Promise<string> | undefined;

/** A folder with a migrated database, whole in its file: statements that wait for the garbage collector may keep the log open. */
async function prepareSqlite(): Promise<string> {
  const { settings } = await sqliteDatabase();
  await migrate(settings);
  const file = new Database(join(settings.dataDir, SQLITE_FILE));
  expect(file.query('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 });
  file.close(true);
  return settings.dataDir;
}

async function migratedSqlite(): Promise<TestDatabase> {
  prepared ??= prepareSqlite();
  return sqliteDatabase(await prepared);
}

const sqlite: Engine = { name: 'SQLite', freshDatabase: migratedSqlite, emptyDatabase: () => sqliteDatabase() };

/** Those of this test file, removed after it, or by the next file that this process runs with the same modules. */
let postgresDatabases: string[] = [];
let file = Bun.main;
async function dropDatabases(): Promise<void> {
  const urls = postgresDatabases;
  postgresDatabases = [];
  if (urls.length > 0) await (await testPostgres()).dropDatabases(urls);
}
afterAll(dropDatabases);

async function postgresDatabase(prepare?: (databaseUrl: string) => Promise<void>): Promise<TestDatabase> {
  if (file !== Bun.main) {
    file = Bun.main;
    await dropDatabases();
  }
  const databaseUrl = await (await testPostgres()).freshDatabase(prepare);
  postgresDatabases.push(databaseUrl);
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
const unfiled = ({ settings, tamper }: TestDatabase) => ({ settings: { ...settings, leavesUnfiled: true }, tamper });

const sqliteUnfiled: Engine = {
  name: 'SQLite, unfiled calls',
  freshDatabase: async () => unfiled(await migratedSqlite()),
  emptyDatabase: async () => unfiled(await sqliteDatabase()),
};

const postgres: Engine = {
  name: 'Postgres',
  freshDatabase: () => postgresDatabase((databaseUrl) => migrate({ dataDir: folder, databaseUrl })),
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
