/** The calls in SQLite: one lean row each, written once; lists are newest first. */
import type { Database } from 'bun:sqlite';
import type { CallFilter, CallOutcome, CallRow, UsageSum } from '../store.ts';

/** A missing figure is NULL; times are whole milliseconds, whatever clock measured them. */
export function prepareCallInsert(db: Database): (call: CallRow, entrySeq: number | undefined) => void {
  const insert = db.prepare(
    `INSERT INTO calls (id, account, key, at, model, provider, target_model, dialect, upstream_dialect, stream, status,
       outcome, error_code, attempts, cost, price_id, usage, duration_ms, first_byte_ms, entry_seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (c, entrySeq) => {
    insert.run(
      c.id,
      c.account,
      c.key,
      c.at,
      c.model,
      c.provider,
      c.targetModel,
      c.dialect,
      c.upstreamDialect,
      c.stream ? 1 : 0,
      c.status,
      c.outcome,
      c.errorCode ?? null,
      c.attempts,
      c.cost,
      c.priceId,
      c.usage ?? null,
      Math.round(c.durationMs),
      c.firstByteMs === undefined ? null : Math.round(c.firstByteMs),
      entrySeq ?? null,
    );
  };
}

export interface CallColumns {
  id: string;
  account: string;
  key: string;
  at: bigint;
  model: string;
  provider: string;
  target_model: string;
  dialect: string;
  upstream_dialect: string;
  stream: bigint;
  status: bigint;
  outcome: CallOutcome;
  error_code: string | null;
  attempts: bigint;
  cost: bigint;
  price_id: string;
  usage: string | null;
  duration_ms: bigint;
  first_byte_ms: bigint | null;
  entry_seq: bigint | null;
}

function readCall(row: CallColumns): CallRow {
  return {
    id: row.id,
    account: row.account,
    key: row.key,
    at: Number(row.at),
    model: row.model,
    provider: row.provider,
    targetModel: row.target_model,
    dialect: row.dialect,
    upstreamDialect: row.upstream_dialect,
    stream: row.stream !== 0n,
    status: Number(row.status),
    outcome: row.outcome,
    ...(row.error_code !== null && { errorCode: row.error_code }),
    attempts: Number(row.attempts),
    cost: row.cost,
    priceId: row.price_id,
    ...(row.usage !== null && { usage: row.usage }),
    durationMs: Number(row.duration_ms),
    ...(row.first_byte_ms !== null && { firstByteMs: Number(row.first_byte_ms) }),
  };
}

export function readCallById(db: Database, id: string): CallRow | undefined {
  const row = db.query<CallColumns, [string]>('SELECT * FROM calls WHERE id = ?').safeIntegers(true).get(id);
  return row ? readCall(row) : undefined;
}

export function readCalls(db: Database, filter: CallFilter): CallRow[] {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const where = (condition: string, ...bound: (string | number | undefined)[]) => {
    if (bound.some((value) => value === undefined)) return;
    conditions.push(condition);
    values.push(...bound.filter((value) => value !== undefined));
  };
  where('account = ?', filter.account);
  where('key = ?', filter.key);
  where('model = ?', filter.model);
  where('at >= ?', filter.from);
  where('at < ?', filter.to);
  where('(at, id) < (SELECT at, id FROM calls WHERE id = ?)', filter.after);
  const sql = `SELECT * FROM calls ${conditions.length ? `WHERE ${conditions.join(' AND ')}` : ''}
    ORDER BY at DESC, id DESC LIMIT ?`;
  return db
    .query<CallColumns, (string | number)[]>(sql)
    .safeIntegers(true)
    .all(...values, filter.limit)
    .map(readCall);
}

const GROUPS = {
  day: `strftime('%Y-%m-%d', at / 1000, 'unixepoch')`,
  model: 'model',
  key: 'key',
} as const;

/** Calls that began from `from` on and before `to`. */
export function readUsage(
  db: Database,
  filter: { account: string; from: number; to: number; groupBy: keyof typeof GROUPS },
): UsageSum[] {
  return db
    .query<{ [column in Exclude<keyof UsageSum, 'group'>]: bigint } & { group: string }, [string, number, number]>(
      `SELECT ${GROUPS[filter.groupBy]} AS "group", count(*) AS calls, sum(cost) AS cost,
         coalesce(sum(usage ->> 'input'), 0) AS inputTokens, coalesce(sum(usage ->> 'output'), 0) AS outputTokens
       FROM calls WHERE account = ? AND at >= ? AND at < ? GROUP BY 1 ORDER BY 1`,
    )
    .safeIntegers(true)
    .all(filter.account, filter.from, filter.to)
    .map((row) => ({
      group: row.group,
      calls: Number(row.calls),
      cost: row.cost,
      inputTokens: Number(row.inputTokens),
      outputTokens: Number(row.outputTokens),
    }));
}
