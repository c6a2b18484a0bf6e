/** Says whether the database takes a call now, and if not, why: in sentences that anybody may read. */
import { GatewayError } from '../canonical/errors.ts';
import type { SchemaState } from './migration-plan.ts';

export interface Readiness {
  ready: boolean;
  /** Why no call can be taken: a sentence each. */
  reasons: string[];
  /** What an operator should know although calls are taken. */
  warnings: string[];
}

export const READY: Readiness = { ready: true, reasons: [], warnings: [] };

export const notReady = (reason: string): Readiness => ({ ready: false, reasons: [reason], warnings: [] });

/** Reads the schema's state, and where it can be used writes a row as a call would. */
export async function probeDatabase(
  readSchema: () => Promise<SchemaState> | SchemaState,
  write: () => Promise<unknown>,
): Promise<Readiness> {
  try {
    const state = await readSchema();
    if (state.is === 'unusable') return notReady(state.why);
    if (state.is === 'behind') return notReady('The database is not migrated: run "modelport migrate".');
    await write();
    return state.is === 'ahead' ? { ...READY, warnings: [newerSchema(state.version)] } : READY;
  } catch (thrown) {
    return notReady(reasonOf(thrown));
  }
}

const newerSchema = (version: number) =>
  `The database has schema version ${version}, which is newer than this Modelport and can still be used by it: finish the upgrade.`;

/** By what the engines call it; nothing of the cause is shown, which may hold addresses. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(SQLITE_FULL|53100)/, "The database's disk is full."],
  [/^(SQLITE_READONLY|25006)/, 'The database is read-only.'],
  [/^SQLITE_(BUSY|LOCKED)/, 'Another process has had the database locked for too long.'],
  [/^SQLITE_(IOERR|CANTOPEN)/, "The database's file cannot be read or written."],
];

export function reasonOf(thrown: unknown): string {
  const cause: unknown = thrown instanceof GatewayError ? thrown.cause : thrown;
  const { code, errno } = (cause ?? {}) as { code?: unknown; errno?: unknown };
  // SQLite names its errors in `code`; Postgres says its own in `errno`, and in `code` that it was the server's.
  const names = [String(code ?? ''), String(errno ?? '')];
  const known = REASONS.find(([pattern]) => names.some((name) => pattern.test(name)));
  return known ? known[1] : 'The database does not answer.';
}
