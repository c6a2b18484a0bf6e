/** Which tables belong to a backup, and when a database may be backed up or restored. */

import { type MigrationStep, type SchemaState, textOf } from '../migration-plan.ts';
import type { BackupTable } from './backup-store.ts';

/** Without meaning in another database. Calls in `unfiled_calls` are filed before a snapshot is taken. */
const LEFT_OUT = new Set([
  'probes',
  'unfiled_calls',
  'ledger_verifications',
  // A restored database must not know sessions that have been ended since.
  'sessions',
  'sign_in_tokens',
  'sign_in_failures',
]);

/** Tables that have a row as soon as they are created. */
const WITH_FIRST_ROW = new Set(['generation', 'kept_from']);

/** The tables that the migration steps create, in that order, without partitions. */
export function backupTables(steps: readonly MigrationStep[]): string[] {
  const created = steps.flatMap((step) => [...textOf(step).matchAll(/CREATE TABLE (\w+) \(/g)]);
  return created.flatMap(([, name = '']) => (LEFT_OUT.has(name) ? [] : [name]));
}

/** Throws an Error if one of the tables has a row that was not there when the table was made: a restore replaces nothing. */
export async function requireEmpty(
  tables: readonly string[],
  hasRow: (table: string) => boolean | Promise<boolean>,
): Promise<void> {
  for (const table of tables) {
    if (WITH_FIRST_ROW.has(table) || !(await hasRow(table))) continue;
    throw new Error('The database is not empty. Restore into a new data directory or a new Postgres database.');
  }
}

/** Throws an Error unless the schema is the one of this program: otherwise tables or columns could be missing in the backup. */
export function requireCurrent(state: SchemaState): void {
  if (state.is === 'unusable') throw new Error(state.why);
  if (state.is === 'behind')
    throw new Error('The schema of the database is out of date: run "modelport migrate" first.');
  if (state.is === 'ahead')
    throw new Error('The database was migrated by a newer Modelport: make the backup with that one.');
}

/** Throws an Error unless a backup of schema version `of` can be restored into a database of version `now` (0: without tables). */
export function requireRestorable(of: number, now: number, own: number): void {
  if (of > own) throw new Error('The backup was made by a newer Modelport: restore it with that one.');
  if (now > of)
    throw new Error('The database has newer tables than the backup. Restore into a database without tables.');
}

/** Names of a file must not become part of a statement unless the database has them. `known`: empty if it does not have the table. */
export function requireColumns({ name, columns }: BackupTable, known: readonly string[]): void {
  if (known.length === 0) throw new Error(`The backup has a table "${name}", which this Modelport does not know.`);
  const unknown = columns.find((column) => !known.includes(column));
  if (unknown !== undefined) throw new Error(`The backup has a column "${unknown}" of ${name}, which is unknown.`);
}

/** The number of rows to read next, so that about a megabyte is in memory. */
export function pageSize(rows: number, bytes: number): number {
  if (rows === 0) return FIRST_PAGE;
  return Math.min(MOST_ROWS, Math.max(1, Math.floor(PAGE_BYTES / (bytes / rows))));
}

const FIRST_PAGE = 16;
const MOST_ROWS = 2000;
const PAGE_BYTES = 1_000_000;
