/** Backup of a Postgres database while others write, and restore into an empty one. */
import { DAY_MS } from '../../canonical/time.ts';
import type { BackupSink, RowBatch } from '../backup/backup-store.ts';
import { backupTables, pageSize, requireColumns, requireEmpty, requireRestorable } from '../backup/backup-tables.ts';
import { raw, type Statement, sql } from '../database.ts';
import { openConnection, type PostgresConnection, type RunStatement } from './connection.ts';
import { migratePostgres, postgresVersion, STEPS } from './migrations.ts';
import { makePartition } from './partitions.ts';

/** While the disk of the backup is slow, the server must not end the transaction. */
const PATIENT = raw(`SET LOCAL idle_in_transaction_session_timeout = '10min'`);

async function alone<T>(url: string, work: (db: PostgresConnection) => Promise<T>): Promise<T> {
  const db = openConnection({ url, connections: 1, reads: 'much' });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Reads in one REPEATABLE READ transaction over a connection of its own. The schema is the one of this program. */
export function backUpPostgres(url: string, sink: BackupSink): Promise<void> {
  return alone(url, ({ transact }) =>
    transact(async (run) => {
      await run(raw('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY'));
      await run(PATIENT);
      const columns = await columnsOfTables(run);
      for (const name of backupTables(STEPS)) await sendTable(run, name, columns.get(name) ?? [], sink);
    }),
  );
}

/** Orders the writers of one database, and exists in this engine alone. */
const NOT_SENT = new Map([['accounts', 'version']]);

interface Column {
  name: string;
  type: string;
  isIdentity: boolean;
}

async function columnsOfTables(run: RunStatement): Promise<Map<string, Column[]>> {
  const columns = await run<Column & { table: string }>(
    raw(`
    SELECT CAST(relname AS TEXT) AS "table", CAST(attname AS TEXT) AS name,
      pg_catalog.format_type(atttypid, atttypmod) AS type, attidentity <> '' AS "isIdentity"
    FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
    ORDER BY attrelid, attnum`),
  );
  const tables = new Map<string, Column[]>();
  for (const { table, ...column } of columns) {
    const of = tables.get(table);
    if (of) of.push(column);
    else tables.set(table, [column]);
  }
  return tables;
}

async function sendTable(run: RunStatement, name: string, of: readonly Column[], sink: BackupSink): Promise<void> {
  const columns = of.map((column) => column.name).filter((column) => column !== NOT_SENT.get(name));
  await sink.table({ name, columns });
  await run(
    raw(`DECLARE backup_rows NO SCROLL CURSOR FOR
      SELECT CAST(json_build_array(${columns.join(', ')}) AS TEXT) AS line FROM ${name}`),
  );
  let [rows, bytes] = [0, 0];
  for (;;) {
    const page = await run<{ line: string }>(raw(`FETCH ${pageSize(rows, bytes)} FROM backup_rows`));
    if (page.length === 0) break;
    rows += page.length;
    for (const { line } of page) bytes += line.length;
    await sink.rows(page.map(({ line }) => line));
  }
  await run(raw('CLOSE backup_rows'));
}

export async function restorePostgres(url: string, of: number, batches: AsyncIterable<RowBatch>): Promise<void> {
  await alone(url, async (db) => {
    requireRestorable(of, await postgresVersion(db), STEPS.length);
    await migratePostgres(db, of);
    const tables = backupTables(STEPS.slice(0, of));
    await db.transact((run) => fill(run, tables, batches));
    await migratePostgres(db);
    // Otherwise the first reads are planned for empty tables.
    for (const table of tables) await db.all(raw(`ANALYZE ${table}`));
  });
}

async function fill(run: RunStatement, tables: readonly string[], batches: AsyncIterable<RowBatch>): Promise<void> {
  await run(PATIENT);
  // A gateway that starts meanwhile would bootstrap the database.
  await run(raw(`LOCK TABLE ${tables.join(', ')} IN EXCLUSIVE MODE`));
  await requireEmpty(tables, async (table) => (await run(raw(`SELECT 1 FROM ${table} LIMIT 1`))).length > 0);
  for (const table of tables) await run(raw(`DELETE FROM ${table}`));
  const columns = await columnsOfTables(run);
  const days = new Set<number>();
  for await (const { table, rows } of batches) {
    const known = tables.includes(table.name) ? (columns.get(table.name) ?? []) : [];
    requireColumns(
      table,
      known.map(({ name }) => name),
    );
    if (table.name === 'calls') await makePartitions(run, days, timesOf(table.columns, rows));
    await run(
      insertRows(
        table.name,
        table.columns.map((name) => known.find((one) => one.name === name)!),
        rows,
      ),
    );
  }
  for (const name of tables) {
    const identity = columns.get(name)?.find(({ isIdentity }) => isIdentity);
    if (identity) await run(continueIdentity(name, identity.name));
  }
}

function insertRows(table: string, columns: readonly Column[], rows: readonly string[]): Statement {
  const names = raw(columns.map(({ name }) => name).join(', '));
  const values = raw(columns.map(({ type }, index) => `CAST(line ->> ${index} AS ${type})`).join(', '));
  return sql`INSERT INTO ${raw(table)} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM json_array_elements(CAST(CAST(${`[${rows.join(',')}]`} AS TEXT) AS JSON)) AS line`;
}

function timesOf(columns: readonly string[], rows: readonly string[]): number[] {
  const at = columns.indexOf('at');
  return rows.map((row) => (JSON.parse(row) as number[])[at] ?? 0);
}

/** Before the rows: a partition cannot be made for a day whose calls are in the default one. */
async function makePartitions(run: RunStatement, days: Set<number>, times: readonly number[]): Promise<void> {
  for (const time of times) {
    const day = Math.floor(time / DAY_MS);
    if (days.has(day)) continue;
    days.add(day);
    await makePartition(run, day);
  }
}

const continueIdentity = (table: string, column: string): Statement =>
  raw(`SELECT setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 1), max(${column}) IS NOT NULL)
    FROM ${table}`);
