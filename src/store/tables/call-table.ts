/** The calls: one row each, written once. Lists are newest first; sums are stored by hour. */
import type { Usage } from '../../canonical/usage.ts';
import type { FormerCall } from '../call-sums.ts';
import { HOUR_MS } from '../call-sums.ts';
import { type Database, raw, type Statement, sql, where } from '../database.ts';
import type { CallFilter, CallOutcome, CallRow } from '../rows.ts';
import type { Store } from '../store.ts';

interface CallColumns {
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
  saved: bigint;
  duration_ms: bigint;
  first_byte_ms: bigint | null;
  provisional: bigint;
}

/** What the ledger rules need of a recorded call. */
export type FormerColumns = Pick<
  CallColumns,
  'account' | 'key' | 'model' | 'at' | 'duration_ms' | 'cost' | 'outcome' | 'saved' | 'provisional'
> & { id: string; input_tokens: bigint; output_tokens: bigint };

export const FORMER_COLUMNS =
  'id, account, key, model, at, duration_ms, cost, outcome, saved, provisional, input_tokens, output_tokens';

export function toFormer(row: FormerColumns): FormerCall {
  const { account, key, model, cost, outcome, saved } = row;
  const at = Number(row.at);
  const tokens = { input: Number(row.input_tokens), output: Number(row.output_tokens) };
  const endedAt = at + Number(row.duration_ms);
  return { account, key, model, at, endedAt, cost, outcome, saved, tokens, isProvisional: row.provisional !== 0n };
}

export function callTable(db: Database): Pick<Store, 'call' | 'calls'> {
  async function page(filter: CallFilter): Promise<CallRow[]> {
    const rows = await db.all<CallColumns>(
      sql`SELECT * FROM calls ${where(conditionsOf(filter))} ORDER BY at DESC, id DESC LIMIT ${filter.limit}`,
    );
    return rows.map(toCall);
  }

  /** Times of calls of a key or model, newest first. Uses the hourly sums to skip the hours without such calls. */
  async function timesOf({ account, key, model, from = 0, to = Number.MAX_SAFE_INTEGER, after, limit }: CallFilter) {
    const [last] =
      after === undefined ? [] : await db.all<{ at: bigint }>(sql`SELECT at FROM calls WHERE id = ${after}`);
    const end = last ? Math.min(to, Number(last.at) + 1) : to;
    const conditions = [
      account === undefined ? undefined : sql`account = ${account}`,
      key === undefined ? undefined : sql`key = ${key}`,
      model === undefined ? undefined : sql`model = ${model}`,
      sql`hour >= ${Math.floor(from / HOUR_MS)} AND hour < ${Math.ceil(end / HOUR_MS)}`,
    ];
    // Each hour contains a call; those of the newest hour may all be after the end.
    const hours = await db.all<{ hour: bigint }>(
      sql`SELECT DISTINCT hour FROM call_sums ${where(conditions)} ORDER BY hour DESC LIMIT ${limit + 1}`,
    );
    const times: { from: number; to: number }[] = [];
    for (const { hour } of hours) {
      const start = Number(hour) * HOUR_MS;
      const newer = times.at(-1);
      if (newer && newer.from === start + HOUR_MS) newer.from = start;
      else times.push({ from: start, to: start + HOUR_MS });
    }
    return times.map((time) => ({ from: Math.max(from, time.from), to: Math.min(end, time.to) }));
  }

  return {
    async call(id) {
      const [row] = await db.all<CallColumns>(sql`SELECT * FROM calls WHERE id = ${id}`);
      return row && toCall(row);
    },

    async calls(filter) {
      // The sums do not distinguish outcomes.
      if (filter.outcome !== undefined || (filter.key === undefined && filter.model === undefined)) return page(filter);
      const rows: CallRow[] = [];
      for (const time of await timesOf(filter)) {
        rows.push(...(await page({ ...filter, ...time, limit: filter.limit - rows.length })));
        if (rows.length === filter.limit) break;
      }
      return rows;
    },
  };
}

/** Written exactly as in the index. */
const DISPUTED = raw("outcome = 'disputed'");

function conditionsOf(filter: CallFilter): (Statement | undefined)[] {
  const { account, key, model, outcome, from, to, after } = filter;
  return [
    account === undefined ? undefined : sql`account = ${account}`,
    key === undefined ? undefined : sql`key = ${key}`,
    model === undefined ? undefined : sql`model = ${model}`,
    outcome === undefined ? undefined : outcome === 'disputed' ? DISPUTED : sql`outcome = ${outcome}`,
    from === undefined ? undefined : sql`at >= ${from}`,
    to === undefined ? undefined : sql`at < ${to}`,
    after === undefined ? undefined : sql`(at, id) < (SELECT at, id FROM calls WHERE id = ${after})`,
  ];
}

function toCall(row: CallColumns): CallRow {
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
    ...(row.provisional !== 0n && { provisional: true }),
    ...(row.error_code !== null && { errorCode: row.error_code }),
    attempts: Number(row.attempts),
    cost: row.cost,
    priceId: row.price_id,
    ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage }),
    ...(row.saved !== 0n && { saved: row.saved }),
    durationMs: Number(row.duration_ms),
    ...(row.first_byte_ms !== null && { firstByteMs: Number(row.first_byte_ms) }),
  };
}
