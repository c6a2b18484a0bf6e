/** Calls that were refused before they were admitted. They have no hold and no charge, and are kept for a day. */
import { type Database, joined, type Statement, sql, where } from '../database.ts';
import type { RefusedCallRow } from '../refused-call-row.ts';
import type { CallFilter, CallRow } from '../rows.ts';
import type { Cursor } from './call-filter.ts';

const KEPT_MS = 86_400_000;

interface RefusedColumns {
  id: string;
  at: bigint;
  account: string | null;
  key: string | null;
  model: string | null;
  dialect: string;
  stream: bigint;
  status: bigint;
  error_code: string;
  duration_ms: bigint;
  receipt: string;
}

export function insertRefused(calls: readonly RefusedCallRow[]): Statement {
  const rows = calls.map(
    (
      call,
    ) => sql`(${call.id}, ${call.at}, ${call.account ?? null}, ${call.key ?? null}, ${call.model ?? null}, ${call.dialect},
      ${call.stream ? 1 : 0}, ${call.status}, ${call.errorCode}, ${Math.round(call.durationMs)}, ${call.receipt})`,
  );
  return sql`INSERT INTO refused_calls (id, at, account, key, model, dialect, stream, status, error_code, duration_ms, receipt)
    VALUES ${joined(rows, ', ')} ON CONFLICT DO NOTHING`;
}

export const forgetRefused = (now: number): Statement => sql`DELETE FROM refused_calls WHERE at < ${now - KEPT_MS}`;

export async function refusedCall(db: Database, id: string): Promise<CallRow | undefined> {
  const [row] = await db.all<RefusedColumns>(sql`SELECT * FROM refused_calls WHERE id = ${id}`);
  return row && { ...toCall(row), receipt: row.receipt };
}

/** Newest first. A day's calls, of which a bounded number a second is recorded: they are few enough for one index. */
export async function refusedCalls(db: Database, filter: CallFilter, cursor: Cursor | undefined): Promise<CallRow[]> {
  const { account, key, model, status, error, from, to } = filter;
  const conditions = [
    account === undefined ? undefined : sql`account = ${account}`,
    key === undefined ? undefined : sql`key = ${key}`,
    model === undefined ? undefined : sql`model = ${model}`,
    status === undefined ? undefined : sql`status = ${status}`,
    error === undefined ? undefined : sql`error_code = ${error}`,
    from === undefined ? undefined : sql`at >= ${from}`,
    to === undefined ? undefined : sql`at < ${to}`,
    cursor && sql`(at, id) < (${cursor.at}, ${cursor.id})`,
  ];
  const rows = await db.all<RefusedColumns>(
    sql`SELECT * FROM refused_calls ${where(conditions)} ORDER BY at DESC, id DESC LIMIT ${filter.limit}`,
  );
  return rows.map(toCall);
}

function toCall(row: RefusedColumns): CallRow {
  return {
    id: row.id,
    account: row.account ?? '',
    key: row.key ?? '',
    at: Number(row.at),
    model: row.model ?? '',
    provider: '',
    targetModel: '',
    dialect: row.dialect,
    upstreamDialect: '',
    stream: row.stream !== 0n,
    status: Number(row.status),
    outcome: 'refused',
    errorCode: row.error_code,
    attempts: 0,
    cost: 0n,
    priceId: '',
    durationMs: Number(row.duration_ms),
  };
}
