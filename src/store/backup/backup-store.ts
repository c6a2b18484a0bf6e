/** The interface between a backup file and the database engines. */

/**
 * A row is a JSON array with the values of its columns. The database itself writes and reads this text, so integers of 64 bits stay exact,
 * and no value passes through JavaScript.
 */
export type RowText = string;

export interface BackupTable {
  name: string;
  columns: readonly string[];
}

/** Receives the tables one after another. */
export interface BackupSink {
  table(table: BackupTable): Promise<void>;
  /** Rows of the last table. */
  rows(rows: readonly RowText[]): Promise<void>;
}

/** Some rows of one table. */
export interface RowBatch {
  table: BackupTable;
  rows: readonly RowText[];
}

export type EngineName = 'SQLite' | 'Postgres';

/** The number of migration steps of each engine in one version of the program. */
export type SchemaVersions = { readonly [engine in EngineName]: number };

export interface BackupStore {
  readonly engine: EngineName;
  /** The schema versions of this program. */
  readonly schemaVersions: SchemaVersions;
  /** Sends all rows as of one moment to `sink`, while others write. Throws an Error if the schema is not the one of this program. */
  backUp(sink: BackupSink): Promise<void>;
  /**
   * Fills an empty database in one transaction, and migrates it before and after. Throws an Error, and changes no row, if the database has
   * rows or a newer schema than the backup.
   */
  restore(of: SchemaVersions, batches: AsyncIterable<RowBatch>): Promise<void>;
}
