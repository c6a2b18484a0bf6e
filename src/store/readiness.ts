/** Whether the database can take a call now, and the reasons if not. The sentences contain nothing confidential. */
import { GatewayError } from '../canonical/errors.ts';
import type { SchemaState } from './migration-plan.ts';

const RETRY_AFTER_SECONDS = 1;

export interface Readiness {
  ready: boolean;
  /** Why no call can be taken, one sentence each. */
  reasons: string[];
  /** Problems that do not prevent calls. */
  warnings: string[];
}

export const READY: Readiness = { ready: true, reasons: [], warnings: [] };

export const notReady = (reason: string): Readiness => ({ ready: false, reasons: [reason], warnings: [] });

/** Reads the state of the schema and, if it can be used, writes a row as a call would. */
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
  `The database has schema version ${version}, which is newer than this Modelport but compatible with it: finish the upgrade.`;

/** By the engines' error names. The cause itself is not shown, because it may contain addresses. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(SQLITE_FULL|53100)/, "The database's disk is full."],
  [/^(SQLITE_READONLY|25006)/, 'The database is read-only.'],
  [/^SQLITE_(BUSY|LOCKED)/, 'Another process has had the database locked for too long.'],
  [/^SQLITE_(IOERR|CANTOPEN)/, "The database's file cannot be read or written."],
];

function reasonOf(thrown: unknown): string {
  const cause: unknown = thrown instanceof GatewayError ? thrown.cause : thrown;
  const { code, errno } = (cause ?? {}) as { code?: unknown; errno?: unknown };
  // SQLite names its errors in `code`. Postgres has its own code in `errno`, and `code` says that the error is from the server.
  const names = [String(code ?? ''), String(errno ?? '')];
  const known = REASONS.find(([pattern]) => names.some((name) => pattern.test(name)));
  return known ? known[1] : 'The database does not answer.';
}

/** The error for callers when the database cannot be reached or accepts no writes. */
export function databaseUnavailable(cause: unknown): GatewayError {
  const sentence = "The gateway's database does not answer at the moment. Please try again.";
  return new GatewayError('database_unavailable', sentence, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
