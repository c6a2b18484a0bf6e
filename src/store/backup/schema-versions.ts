/** The schema versions of this program. A backup of one engine can be restored into the other. */
import { STEPS as POSTGRES_STEPS } from '../postgres/migrations.ts';
import { STEPS as SQLITE_STEPS } from '../sqlite/migrations.ts';
import type { SchemaVersions } from './backup-store.ts';

export const SCHEMA_VERSIONS: SchemaVersions = { SQLite: SQLITE_STEPS.length, Postgres: POSTGRES_STEPS.length };
