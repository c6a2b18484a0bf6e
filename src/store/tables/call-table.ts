/** The calls: one row each, written once. Lists are newest first; sums are stored by hour. */
import { HOUR_MS } from '../../canonical/time.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { BilledStore } from '../billed-calls.ts';
import { type Database, sql, where, within } from '../database.ts';
import type { CallFilter, CallOutcome, CallRow } from '../rows.ts';
import type { Store } from '../store.ts';
import type { FormerCall } from '../sums/call-sums.ts';
import { type EntryColumns, toEntry } from './book-tables.ts';
import {
  type Cursor,
  conditionsOf,
  countMatching,
  endOf,
  type Finder,
  findersOf,
  hasChecks,
  includesRefused,
  MOST_COUNTED,
  newestOf,
  taggedCalls,
} from './call-filter.ts';
import { insertRefused, refusedCall, refusedCalls } from './refused-call-table.ts';

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
  provider_cost: bigint | null;
  usage: string | null;
  saved: bigint;
  duration_ms: bigint;
  first_byte_ms: bigint | null;
  provisional: bigint;
  receipt: string | null;
}

type BilledColumns = Pick<CallColumns, 'id' | 'at' | 'model' | 'outcome' | 'cost' | 'price_id' | 'usage'>;

/** What the ledger rules need of a recorded call. */
export type FormerColumns = Pick<
  CallColumns,
  | 'account'
  | 'key'
  | 'model'
  | 'at'
  | 'duration_ms'
  | 'cost'
  | 'provider'
  | 'provider_cost'
  | 'outcome'
  | 'saved'
  | 'provisional'
> & { id: string; input_tokens: bigint; output_tokens: bigint };

export const FORMER_COLUMNS =
  'id, account, key, model, at, duration_ms, cost, provider, provider_cost, outcome, saved, provisional, input_tokens, output_tokens';

export function toFormer(row: FormerColumns): FormerCall {
  const { account, key, model, cost, provider, outcome, saved } = row;
  const providerCost = row.provider_cost ?? undefined;
  const at = Number(row.at);
  const tokens = { input: Number(row.input_tokens), output: Number(row.output_tokens) };
  const endedAt = at + Number(row.duration_ms);
  const isProvisional = row.provisional !== 0n;
  return { account, key, model, at, endedAt, cost, provider, providerCost, outcome, saved, tokens, isProvisional };
}

/** Some calls, newest first. `end`: where reading stopped before the page was full. */
interface CallPage {
  rows: CallRow[];
  end?: Cursor | undefined;
}

/** These find so many calls that it helps to look first in which hours there are any of the model. */
const WIDE: ReadonlySet<Finder> = new Set(['key', 'account', 'provider', 'time']);

/** Tagged calls that are looked up at once. */
const TAGGED_AT_ONCE = 200;
/** The maximum of one page: each call lies elsewhere, so they take longer than calls that follow each other. */
const MOST_TAGGED = 500;

/** What is read at once for a page without end. */
const EXAMINED_AT_ONCE = 20_000;

export function callTable(
  db: Database,
): Pick<Store, 'call' | 'calls' | 'callPage' | 'entriesOfCall' | 'refused'> & BilledStore {
  /** The one that finds the fewest calls. `isShort`: so few that all of them may be read. */
  async function finderFor(filter: CallFilter, examined: number): Promise<{ finder: Finder; isShort: boolean }> {
    const most = Math.min(MOST_COUNTED, examined);
    const [first = 'time', ...others] = findersOf(filter);
    let best: Finder = first;
    if (others.length === 0 && !hasChecks(filter, first)) return { finder: first, isShort: true };
    let fewest = Number.POSITIVE_INFINITY;
    for (const finder of [first, ...others]) {
      const [row] = await db.all<{ calls: bigint }>(countMatching(filter, finder, most));
      if (Number(row?.calls) >= fewest) continue;
      fewest = Number(row?.calls);
      best = finder;
    }
    return { finder: best, isShort: fewest < most };
  }

  /** `examined`: the maximum of calls to read; absent: as many as it takes. */
  async function page(
    filter: CallFilter,
    cursor: Cursor | undefined,
    { finder, examined }: { finder: Finder; examined?: number },
  ): Promise<CallPage> {
    const read = examined === undefined ? db.all : db.scan;
    const [last] =
      examined === undefined ? [] : await read<{ at: bigint; id: string }>(endOf(filter, finder, { cursor, examined }));
    const end = last && { at: Number(last.at), id: last.id };
    const rows = await read<CallColumns>(
      sql`SELECT * FROM calls ${where(conditionsOf(filter, finder, { cursor, end }))}
        ORDER BY at DESC, id DESC LIMIT ${filter.limit}`,
    );
    return { rows: rows.map(toCall), ...(rows.length < filter.limit && { end }) };
  }

  /**
   * Reads what is tagged, then the calls: Postgres joins the two by sorting the calls of all days, which took 10 s for 50 tagged ones. Without
   * conditions of time and without the order of an index, it finds them by their ids.
   */
  async function pageByTag(filter: CallFilter, first: Cursor | undefined, most: number): Promise<CallPage> {
    const { tag: _, from: __, to: ___, ...others } = filter;
    const rows: CallRow[] = [];
    let cursor = first;
    for (let left = Math.min(most, MOST_TAGGED); left > 0; ) {
      const asked = Math.min(left, TAGGED_AT_ONCE);
      const tagged = await db.scan<{ at: bigint; id: string }>(taggedCalls({ ...filter, limit: asked }, cursor));
      const last = tagged.at(-1);
      if (!last) return { rows };
      const conditions = [sql`id ${within(tagged.map(({ id }) => id))}`, ...conditionsOf(others, 'time', {})];
      const found = await db.scan<CallColumns>(
        sql`SELECT * FROM calls ${where(conditions)} ORDER BY at + 0 DESC, id || '' DESC LIMIT ${filter.limit - rows.length}`,
      );
      rows.push(...found.map(toCall));
      if (rows.length === filter.limit || tagged.length < asked) return { rows };
      cursor = { at: Number(last.at), id: last.id };
      left -= tagged.length;
    }
    return { rows, end: cursor };
  }

  /** `undefined`: there is no such call, so no page after it. */
  async function cursorAt(id: string | Cursor): Promise<Cursor | undefined> {
    if (typeof id !== 'string') return id;
    const [row] = await db.all<{ at: bigint }>(
      sql`SELECT at FROM calls WHERE id = ${id} UNION ALL SELECT at FROM refused_calls WHERE id = ${id}`,
    );
    return row && { at: Number(row.at), id };
  }

  /** Hour by hour of those that may have calls of the key, model or cost, until the page is full. */
  async function byHours(
    filter: CallFilter,
    cursor: Cursor | undefined,
    { finder, examined = EXAMINED_AT_ONCE }: { finder: Finder; examined?: number },
  ): Promise<CallPage> {
    const rows: CallRow[] = [];
    let left = examined;
    let to = Math.min(filter.to ?? Number.MAX_SAFE_INTEGER, cursor ? cursor.at + 1 : Number.MAX_SAFE_INTEGER);
    for (;;) {
      const { times, isAll } = await timesOf(filter, to);
      for (const time of times) {
        const ofTime = { ...filter, ...time, limit: filter.limit - rows.length };
        const part = await page(ofTime, cursor, { finder, examined: left });
        rows.push(...part.rows);
        if (rows.length === filter.limit || part.end) return { rows, end: part.end };
        const [found] = await db.scan<{ calls: bigint }>(countMatching(ofTime, finder, left));
        left = Math.max(1, left - Number(found?.calls));
        to = time.from;
      }
      if (isAll) return { rows };
    }
  }

  async function partOf(filter: CallFilter, cursor: Cursor | undefined, examined: number): Promise<CallPage> {
    const { finder, isShort } = await finderFor(filter, examined);
    const { model, costAbove } = filter;
    const ofHours = WIDE.has(finder) && (model !== undefined || (costAbove !== undefined && finder === 'time'));
    const read = ofHours && !isShort ? byHours : page;
    const admitted = await (finder === 'tag'
      ? pageByTag(filter, cursor, examined)
      : read(filter, cursor, { finder, ...(!isShort && { examined }) }));
    if (!includesRefused(filter)) return admitted;
    const { rows, end } = admitted;
    const refused = (await refusedCalls(db, filter, cursor)).filter((call) => !end || !isBefore(end, call));
    return { rows: newestOf(rows, refused, filter.limit), end };
  }

  /** Times of calls of a key, model or cost, newest first. Uses the hourly sums to skip the hours without such calls. */
  async function timesOf({ account, key, model, costAbove, from = 0, limit }: CallFilter, end: number) {
    const conditions = [
      account === undefined ? undefined : sql`account = ${account}`,
      key === undefined ? undefined : sql`key = ${key}`,
      model === undefined ? undefined : sql`model = ${model}`,
      // No call costs more than all calls of its hour. With a model the index alone is read, which has no costs.
      costAbove === undefined || model !== undefined ? undefined : sql`cost > ${costAbove}`,
      sql`hour >= ${Math.floor(from / HOUR_MS)} AND hour < ${Math.ceil(end / HOUR_MS)}`,
    ];
    // Each hour contains a call; those of the newest hour may all be after the end, and others may not be what is looked for.
    const hours = await db.scan<{ hour: bigint }>(
      sql`SELECT DISTINCT hour FROM call_sums ${where(conditions)} ORDER BY hour DESC LIMIT ${limit + 1}`,
    );
    const times: { from: number; to: number }[] = [];
    for (const { hour } of hours) {
      const start = Number(hour) * HOUR_MS;
      const newer = times.at(-1);
      if (newer && newer.from === start + HOUR_MS) newer.from = start;
      else times.push({ from: start, to: start + HOUR_MS });
    }
    return {
      times: times.map((time) => ({ from: Math.max(from, time.from), to: Math.min(end, time.to) })),
      isAll: hours.length <= limit,
    };
  }

  return {
    async call(id) {
      const [row] = await db.all<CallColumns>(sql`SELECT * FROM calls WHERE id = ${id}`);
      if (!row) return refusedCall(db, id);
      return { ...toCall(row), ...(row.receipt !== null && { receipt: row.receipt }) };
    },

    async calls(filter) {
      const rows: CallRow[] = [];
      let cursor = filter.after === undefined ? undefined : await cursorAt(filter.after);
      if (filter.after !== undefined && !cursor) return [];
      for (;;) {
        const part = await partOf({ ...filter, limit: filter.limit - rows.length }, cursor, EXAMINED_AT_ONCE);
        rows.push(...part.rows);
        cursor = part.end;
        if (!cursor || rows.length >= filter.limit) return rows;
      }
    },

    async callPage(filter, examined) {
      const cursor = filter.after === undefined ? undefined : await cursorAt(filter.after);
      if (filter.after !== undefined && !cursor) return { calls: [] };
      // One more than asked for, to know whether there are more.
      const { rows, end } = await partOf({ ...filter, limit: filter.limit + 1 }, cursor, examined);
      const calls = rows.slice(0, filter.limit);
      const last = calls.at(-1);
      const next = rows.length > filter.limit && last ? { at: last.at, id: last.id } : end;
      return { calls, ...(next && { next }) };
    },

    async entriesOfCall(id) {
      const rows = await db.all<EntryColumns>(
        sql`SELECT entries.* FROM entries JOIN calls ON entries.account = calls.account AND entries.seq = calls.entry_seq
            WHERE calls.id = ${id}
          UNION ALL SELECT * FROM entries WHERE call_id = ${id} AND call_id IS NOT NULL AND kind <> 'charge' ORDER BY seq`,
      );
      return rows.map(toEntry);
    },

    async billedCalls({ from, to, models, limit, after }) {
      // The end of the range is where the page begins: with `to` each page would read all pages before it again.
      const end = after ? after.at + 1 : to;
      const rows = await db.all<BilledColumns>(
        sql`SELECT id, at, model, outcome, cost, price_id,
            CASE WHEN model ${within(models)} THEN usage END AS usage
          FROM calls ${where([sql`at >= ${from} AND at < ${end}`, after && sql`(at, id) < (${after.at}, ${after.id})`])}
          ORDER BY at DESC, id DESC LIMIT ${limit}`,
      );
      return rows.map(({ id, at, model, outcome, cost, price_id, usage }) => ({
        id,
        at: Number(at),
        model,
        outcome,
        cost,
        priceId: price_id,
        ...(usage !== null && { usage: JSON.parse(usage) as Usage }),
      }));
    },

    async refused(calls) {
      if (calls.length > 0) await db.all(insertRefused(calls));
    },
  };
}

/** Whether a list has the call after the cursor. */
const isBefore = (cursor: Cursor, { at, id }: CallRow): boolean =>
  at < cursor.at || (at === cursor.at && id < cursor.id);

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
    ...(row.provider_cost !== null && { providerCost: row.provider_cost }),
    ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage }),
    ...(row.saved !== 0n && { saved: row.saved }),
    durationMs: Number(row.duration_ms),
    ...(row.first_byte_ms !== null && { firstByteMs: Number(row.first_byte_ms) }),
  };
}
