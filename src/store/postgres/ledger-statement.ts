/** One statement that writes a whole batch of the ledger, provided that the accounts have not changed since the batch was decided. */

import type { Money } from '../../canonical/money.ts';
import type { Statement } from '../database.ts';
import type { AccountBooks, LedgerChanges } from '../ledger/ledger-rules.ts';
import type { Spending } from '../ledger/spending.ts';
import type { EntryRow, HeldFor, HoldRow } from '../rows.ts';
import type { CallSum, CompletedCall, RecordedCall } from '../sums/call-sums.ts';
import { sumCalls } from '../sums/call-sums.ts';
import { OVERVIEW_ADDED, OVERVIEW_COLUMNS, OVERVIEW_FROM_ARRAY } from '../sums/overview-columns.ts';
import { sumOverview } from '../sums/overview-sums.ts';
import { ADDED, FIGURES, SUMS_OF_SUMS } from '../sums/sum-columns.ts';
import { CHANGED, HOURS_PER_DAY } from '../sums/usage-days.ts';

/** The balances of an account, with the version of its row when they were read. */
export interface VersionedBooks {
  books: AccountBooks;
  version: bigint;
}

export interface DecidedBatch {
  /** Every account that the batch has read, changed or not. */
  accounts: readonly VersionedBooks[];
  /** The holds that end. */
  taken: ReadonlyMap<string, HeldFor>;
  changes: LedgerChanges;
  /** Names the rows of the overview that this batch adds to. No other batch adds to them at the same time, so that none waits. */
  writer: string;
}

const CALL_COLUMNS =
  'id text, account text, key text, at bigint, model text, provider text, target_model text, dialect text, upstream_dialect text, stream bigint, status bigint, outcome text, error_code text, attempts bigint, cost bigint, price_id text, usage text, duration_ms bigint, first_byte_ms bigint, entry_seq bigint, input_tokens bigint, output_tokens bigint, provisional bigint, completion_seq bigint, saved bigint, receipt text, provider_cost bigint';

/**
 * The columns of the tables that a batch may contain, in the order of their parameters. Each is sent as a JSON array of objects, which
 * costs this process less than arrays by column.
 */
const TABLES = {
  asked:
    'id text, version bigint, changed boolean, balance bigint, held bigint, last_seq bigint, last_hash text, spent bigint, day bigint, day_spent bigint, month bigint, month_spent bigint, prior_day bigint, prior_day_spent bigint, prior_month bigint, prior_month_spent bigint, late_since bigint',
  taken: 'call_id text, account text, key text, amount bigint',
  opened:
    'call_id text, account text, key text, amount bigint, model text, price_id text, at bigint, owner text, sent_at bigint, checkpoint bigint',
  marked: 'call_id text, sent_at bigint, checkpoint bigint, amount bigint',
  entered:
    'account text, seq bigint, kind text, amount bigint, balance_after bigint, counter text, call_id text, note text, idempotency_key text, at bigint, hash text',
  recorded: CALL_COLUMNS,
  completed: CALL_COLUMNS,
  tagged: 'tag text, at bigint, id text',
  summed:
    'account text, hour bigint, key text, model text, provider text, tag text, calls bigint, cost bigint, input_tokens bigint, output_tokens bigint, saved bigint, provider_cost bigint, costed_calls bigint, costed_charge bigint',
  seen: 'slot bigint, writer text, model text, cost bigint, saved bigint, counts bigint[]',
  spent:
    'key text, held bigint, total bigint, day bigint, day_spent bigint, month bigint, month_spent bigint, prior_day bigint, prior_day_spent bigint, prior_month bigint, prior_month_spent bigint, late_since bigint',
  redeemed: 'hash text, account text, at bigint',
} as const;
type Table = keyof typeof TABLES;
const TABLE_NAMES = Object.keys(TABLES) as readonly Table[];

const COMPLETED_COLUMNS = [
  'provider',
  'target_model',
  'dialect',
  'upstream_dialect',
  'stream',
  'status',
  'outcome',
  'error_code',
  'attempts',
  'cost',
  'price_id',
  'usage',
  'duration_ms',
  'first_byte_ms',
  'input_tokens',
  'output_tokens',
  'completion_seq',
  'saved',
  'receipt',
  'provider_cost',
] as const;

/**
 * What is done with the rows of each table, if there are any. First the accounts are locked, without waiting: a locked account counts as
 * changed. Each write depends on the gate. The gate is open if all versions are those that the batch read: every change raises the version,
 * so nothing of these accounts has changed since. A hold that no longer exists closes the gate too.
 */
const WRITES: { readonly [table in Exclude<Table, 'asked' | 'taken'>]: (rows: string) => string } = {
  opened: (rows) => `INSERT INTO holds SELECT * FROM ${rows} WHERE (SELECT open FROM gate)`,
  marked: (
    rows,
  ) => `UPDATE holds SET sent_at = coalesce(holds.sent_at, x.sent_at), checkpoint = greatest(holds.checkpoint, x.checkpoint),
    amount = coalesce(x.amount, holds.amount)
  FROM ${rows} WHERE holds.call_id = x.call_id AND (SELECT open FROM gate)`,
  entered: (rows) => `INSERT INTO entries SELECT * FROM ${rows} WHERE (SELECT open FROM gate)`,
  recorded: (rows) => `INSERT INTO calls SELECT * FROM ${rows} WHERE (SELECT open FROM gate)`,
  // One by one, each in the partition of its day.
  completed: (
    rows,
  ) => `UPDATE calls SET provisional = 0, ${COMPLETED_COLUMNS.map((name) => `${name} = x.${name}`).join(', ')}
  FROM ${rows} WHERE calls.id = x.id AND calls.at = x.at AND (SELECT open FROM gate)`,
  tagged: (rows) => `INSERT INTO call_tags SELECT * FROM ${rows} WHERE (SELECT open FROM gate) ON CONFLICT DO NOTHING`,
  summed: () => `INSERT INTO call_sums AS sums (account, hour, key, model, ${FIGURES})
  SELECT account, hour, key, model, ${SUMS_OF_SUMS} FROM sum_rows WHERE tag = '' AND (SELECT open FROM gate)
  GROUP BY 1, 2, 3, 4 ON CONFLICT (account, hour, key, model) DO UPDATE SET ${ADDED}`,
  seen: (rows) => `INSERT INTO overview_sums AS sums (${OVERVIEW_COLUMNS})
  SELECT slot, writer, model, cost, saved, ${OVERVIEW_FROM_ARRAY} FROM ${rows} WHERE (SELECT open FROM gate)
  ON CONFLICT (slot, writer, model) DO UPDATE SET ${OVERVIEW_ADDED}`,
  spent: (rows) => `INSERT INTO spendings SELECT * FROM ${rows} WHERE (SELECT open FROM gate)
  ON CONFLICT (key) DO UPDATE SET held = excluded.held, total = excluded.total, day = excluded.day,
    day_spent = excluded.day_spent, month = excluded.month, month_spent = excluded.month_spent,
    prior_day = excluded.prior_day, prior_day_spent = excluded.prior_day_spent,
    prior_month = excluded.prior_month, prior_month_spent = excluded.prior_month_spent,
    late_since = excluded.late_since`,
  redeemed: (rows) => `UPDATE codes SET redeemed_at = x.at, redeemed_by = x.account FROM ${rows}
  WHERE codes.hash = x.hash AND (SELECT open FROM gate)`,
};

// Rows are found by lists and one by one, not by joins: a plan made while a table was new joins by a full scan, and stays in use when the
// table has millions of rows. For the same reason the order differs from the index order.
const LOCK = `locked AS MATERIALIZED (
  SELECT id, version FROM accounts WHERE id = ANY (ARRAY(SELECT id COLLATE "C" FROM asked)) ORDER BY id || '' FOR UPDATE SKIP LOCKED
)`;
const VERSIONS_ARE =
  '(SELECT count(*) FROM locked JOIN asked USING (id) WHERE locked.version = asked.version) = (SELECT count(*) FROM asked)';
const HOLDS_ARE = `(SELECT count(*) FROM taken CROSS JOIN LATERAL (
  SELECT account, key, amount FROM holds WHERE holds.call_id = taken.call_id OFFSET 0
) AS held WHERE held.account = taken.account AND held.key = taken.key AND held.amount = taken.amount) = (SELECT count(*) FROM taken)`;
const SAVE = `saved AS (
  UPDATE accounts SET (version, balance, held, last_seq, last_hash, spent, day, day_spent, month, month_spent,
    prior_day, prior_day_spent, prior_month, prior_month_spent, late_since) = (
    SELECT accounts.version + 1, x.balance, x.held, x.last_seq, x.last_hash, x.spent, x.day, x.day_spent, x.month, x.month_spent,
      x.prior_day, x.prior_day_spent, x.prior_month, x.prior_month_spent, x.late_since
    FROM asked AS x WHERE x.id = accounts.id
  ) WHERE id = ANY (ARRAY(SELECT id COLLATE "C" FROM asked WHERE changed)) AND (SELECT open FROM gate)
)`;
const END =
  'ended AS (DELETE FROM holds WHERE call_id = ANY (ARRAY(SELECT call_id COLLATE "C" FROM taken)) AND (SELECT open FROM gate))';

const PARTS = `parts AS (INSERT INTO usage_sums AS sums SELECT * FROM sum_rows WHERE (SELECT open FROM gate)
  ON CONFLICT (account, hour, key, model, provider, tag) DO UPDATE SET ${ADDED})`;

const KEY_DAYS = `key_days_of AS (INSERT INTO key_days AS sums (day, account, key, calls, cost, tokens)
  SELECT hour / 24, account, key, sum(calls), sum(cost), sum(input_tokens + output_tokens) FROM sum_rows
  WHERE tag = '' AND (SELECT open FROM gate) GROUP BY 1, 2, 3
  ON CONFLICT (day, account, key) DO UPDATE
    SET calls = sums.calls + excluded.calls, cost = sums.cost + excluded.cost, tokens = sums.tokens + excluded.tokens)`;

const CHANGED_DAYS = `changed_days AS (${CHANGED} = ANY (ARRAY(SELECT hour / ${HOURS_PER_DAY} FROM sum_rows)) AND (SELECT open FROM gate))`;

/** A batch of holds uses other tables than a batch of settlements. Parts without rows cost the server as much as parts with rows. */
function textFor(tables: readonly Table[]): string {
  const rowsOf = (table: Table) =>
    `json_to_recordset($${tables.indexOf(table) + 1}::text::json) AS x(${TABLES[table]})`;
  const parts: string[] = [];
  const conditions = ['true'];
  for (const table of tables) {
    if (table === 'asked') {
      parts.push(`asked AS MATERIALIZED (SELECT * FROM ${rowsOf(table)})`, LOCK);
      conditions.push(VERSIONS_ARE);
    } else if (table === 'taken') {
      parts.push(`taken AS MATERIALIZED (SELECT * FROM ${rowsOf(table)})`);
      conditions.push(HOLDS_ARE);
    } else if (table === 'summed') {
      parts.push(`sum_rows AS MATERIALIZED (SELECT * FROM ${rowsOf(table)})`);
    }
  }
  parts.push(`gate AS MATERIALIZED (SELECT ${conditions.join(' AND ')} AS open)`);
  for (const table of tables) {
    if (table === 'asked') parts.push(SAVE);
    else if (table === 'taken') parts.push(END);
    else parts.push(`${table} AS (${WRITES[table](rowsOf(table))})`);
    if (table === 'summed') parts.push(PARTS, KEY_DAYS, CHANGED_DAYS);
  }
  return `WITH ${parts.join(', ')} SELECT open FROM gate`;
}

/** One text per set of tables with rows, so that the server has prepared each text after its first use. */
const texts = new Map<string, string>();

/** The statement returns one row: whether the gate was open. Then everything was written, otherwise nothing. */
export function ledgerStatement(batch: DecidedBatch): Statement {
  const rows = rowsOf(batch);
  const tables = TABLE_NAMES.filter((table) => rows[table].length > 0);
  const shape = tables.join(' ');
  let text = texts.get(shape);
  if (text === undefined) {
    text = textFor(tables);
    texts.set(shape, text);
  }
  return { text, values: tables.map((table) => JSON.stringify(rows[table])) };
}

/**
 * Amounts can exceed the exact range of a JSON number, so they are sent as text, which the server casts to integers. Converted here: a JSON
 * replacer is called for every member and takes nine times as long as the rest.
 */
function rowsOf(batch: DecidedBatch): { readonly [table in Table]: readonly object[] } {
  const { changes } = batch;
  return {
    asked: batch.accounts.map(({ books, version }) => accountColumns(books, version, changes.accounts.has(books))),
    taken: [...batch.taken].map(([call_id, { account, key, amount }]) => ({
      call_id,
      account,
      key,
      amount: `${amount}`,
    })),
    opened: [...changes.opened.values()].map(holdColumns),
    marked: markColumns(batch),
    entered: changes.entries.map(entryColumns),
    recorded: changes.calls.map((call) => callColumns(call, call.entrySeq)),
    completed: changes.completed.map((call) => callColumns(call, undefined)),
    tagged: [...changes.calls, ...changes.completed].flatMap(tagColumns),
    summed: sumCalls(changes.calls, changes.completed).map(sumColumns),
    seen: sumOverview(changes.calls, changes.completed).map(({ slot, model, cost, saved, counts }) => ({
      slot,
      writer: batch.writer,
      model,
      cost: `${cost}`,
      saved: `${saved}`,
      counts,
    })),
    spent: [...changes.spendings].map(([key, s]) => ({
      key,
      held: `${s.held}`,
      total: `${s.total}`,
      ...windowColumns(s),
    })),
    redeemed: changes.redeemed,
  };
}

const written = (amount: Money | undefined): string | undefined => (amount === undefined ? undefined : `${amount}`);

function accountColumns(books: AccountBooks, version: bigint, changed: boolean) {
  return {
    id: books.id,
    version: `${version}`,
    changed,
    balance: `${books.balance}`,
    held: `${books.held}`,
    last_seq: books.lastSeq,
    last_hash: books.lastHash,
    spent: `${books.total}`,
    ...windowColumns(books),
  };
}

function windowColumns(s: Spending) {
  return {
    day: s.day,
    day_spent: `${s.daySpent}`,
    month: s.month,
    month_spent: `${s.monthSpent}`,
    prior_day: s.priorDay,
    prior_day_spent: `${s.priorDaySpent}`,
    prior_month: s.priorMonth,
    prior_month_spent: `${s.priorMonthSpent}`,
    late_since: s.lateSince,
  };
}

function holdColumns(hold: HoldRow) {
  const { callId, account, key, amount, model, priceId, at, owner, sentAt, checkpoint } = hold;
  return {
    call_id: callId,
    account,
    key,
    amount: `${amount}`,
    model,
    price_id: priceId,
    at,
    owner,
    sent_at: sentAt,
    checkpoint: written(checkpoint),
  };
}

interface MarkedColumns {
  call_id: string;
  sent_at: number | undefined;
  checkpoint: Money | undefined;
  amount: Money | undefined;
}

/** One row per hold, and none for holds that the batch ends: a statement can change a row only once. */
function markColumns({ changes, taken }: DecidedBatch) {
  const marks = new Map<string, MarkedColumns>();
  for (const { callId, sentAt, checkpoint, amount } of changes.marks) {
    if (taken.has(callId)) continue;
    const mark = marks.get(callId) ?? { call_id: callId, sent_at: undefined, checkpoint: undefined, amount: undefined };
    mark.sent_at ??= sentAt;
    mark.amount = amount ?? mark.amount;
    if (checkpoint !== undefined && checkpoint > (mark.checkpoint ?? 0n)) mark.checkpoint = checkpoint;
    marks.set(callId, mark);
  }
  return [...marks.values()].map((mark) => ({
    ...mark,
    checkpoint: written(mark.checkpoint),
    amount: written(mark.amount),
  }));
}

function entryColumns(entry: EntryRow) {
  const { account, seq, kind, amount, balanceAfter, counter, callId, note, idempotencyKey, at, hash } = entry;
  return {
    account,
    seq,
    kind,
    amount: `${amount}`,
    balance_after: `${balanceAfter}`,
    counter,
    call_id: callId,
    note,
    idempotency_key: idempotencyKey,
    at,
    hash,
  };
}

function callColumns({ row, completionSeq, tokens }: RecordedCall | CompletedCall, entrySeq: number | undefined) {
  return {
    id: row.id,
    account: row.account,
    key: row.key,
    at: row.at,
    model: row.model,
    provider: row.provider,
    target_model: row.targetModel,
    dialect: row.dialect,
    upstream_dialect: row.upstreamDialect,
    stream: row.stream ? 1 : 0,
    status: row.status,
    outcome: row.outcome,
    error_code: row.errorCode,
    attempts: row.attempts,
    cost: `${row.cost}`,
    price_id: row.priceId,
    usage: row.usage && JSON.stringify(row.usage),
    duration_ms: Math.round(row.durationMs),
    first_byte_ms: row.firstByteMs === undefined ? undefined : Math.round(row.firstByteMs),
    entry_seq: entrySeq,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    provisional: row.provisional ? 1 : 0,
    completion_seq: completionSeq,
    saved: `${row.saved ?? 0n}`,
    receipt: row.receipt,
    provider_cost: written(row.providerCost),
  };
}

const sumColumns = (sum: CallSum) => ({
  account: sum.account,
  hour: sum.hour,
  key: sum.key,
  model: sum.model,
  provider: sum.provider,
  tag: sum.tag,
  calls: sum.calls,
  cost: `${sum.cost}`,
  input_tokens: sum.inputTokens,
  output_tokens: sum.outputTokens,
  saved: `${sum.saved}`,
  provider_cost: `${sum.providerCost}`,
  costed_calls: sum.costedCalls,
  costed_charge: `${sum.costedCharge}`,
});

const NO_TAGS: readonly object[] = [];

function tagColumns({ row: { tags, at, id } }: RecordedCall | CompletedCall): readonly object[] {
  return tags ? tags.map((tag) => ({ tag, at, id })) : NO_TAGS;
}
