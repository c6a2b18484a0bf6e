/** Backup of an SQLite file while others write, and restore into an empty one. */
import { Database } from 'bun:sqlite';
import type { BackupSink, RowBatch } from '../backup/backup-store.ts';
import { backupTables, pageSize, requireColumns, requireEmpty, requireRestorable } from '../backup/backup-tables.ts';
import type { SqliteConnection } from './connection.ts';
import { createFiledSnapshots } from './filed-snapshots.ts';
import { migrateSqlite, STEPS, sqliteVersion } from './migrations.ts';

const BUSY_MS = 5000;

/** Reads in one transaction, during which the write-ahead log is not emptied. The schema is the one of this program. */
export async function backUpSqlite(path: string, sink: BackupSink): Promise<void> {
  const reader = new Database(path, { readonly: true });
  reader.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  const snapshots = createFiledSnapshots(path, reader, BUSY_MS);
  try {
    await snapshots.readSlowly(async () => {
      for (const table of backupTables(STEPS)) await sendTable(reader, table, sink);
    });
  } finally {
    snapshots.close();
    reader.close();
  }
}

async function sendTable(file: Database, name: string, sink: BackupSink): Promise<void> {
  const columns = columnsOf(file, name);
  await sink.table({ name, columns });
  const lines = file.prepare<{ line: string }, []>(`SELECT json_array(${columns.join(', ')}) AS line FROM ${name}`);
  let page: string[] = [];
  let [rows, bytes] = [0, 0];
  let atOnce = pageSize(0, 0);
  for (const { line } of lines.iterate()) {
    page.push(line);
    rows++;
    bytes += line.length;
    if (page.length < atOnce) continue;
    await sink.rows(page);
    page = [];
    atOnce = pageSize(rows, bytes);
  }
  await sink.rows(page);
}

function columnsOf(file: Database, table: string): string[] {
  return file
    .prepare<{ name: string }, []>(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => name);
}

export async function restoreSqlite(
  path: string,
  db: SqliteConnection,
  of: number,
  batches: AsyncIterable<RowBatch>,
): Promise<void> {
  requireRestorable(of, await sqliteVersion(db), STEPS.length);
  await migrateSqlite(db, of);
  // A connection of its own: its transaction stays open while the backup is read.
  const file = new Database(path);
  file.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  file.run('BEGIN IMMEDIATE');
  try {
    const tables = backupTables(STEPS.slice(0, of));
    await requireEmpty(tables, (table) => file.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== null);
    for (const table of tables) file.run(`DELETE FROM ${table}`);
    for await (const batch of batches) insertRows(file, tables, batch);
    file.run('COMMIT');
  } finally {
    if (file.inTransaction) file.run('ROLLBACK');
    file.close();
  }
  await migrateSqlite(db);
}

function insertRows(file: Database, tables: readonly string[], { table, rows }: RowBatch): void {
  const { name, columns } = table;
  requireColumns(table, tables.includes(name) ? columnsOf(file, name) : []);
  const values = columns.map((_, index) => `value ->> ${index}`).join(', ');
  file
    .query(`INSERT INTO ${name} (${columns.join(', ')}) SELECT ${values} FROM json_each(?)`)
    .run(`[${rows.join(',')}]`);
}
