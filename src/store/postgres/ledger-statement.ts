/** One statement that writes a whole batch of the ledger, if the accounts are still as the batch was decided on. */

import type { Money } from '../../canonical/money.ts';
import { sumCalls } from '../call-sums.ts';
import type { Statement } from '../database.ts';
import type { AccountBooks, LedgerChanges, RecordedCall } from '../ledger-rules.ts';
import type { EntryRow, HeldFor, HoldRow } from '../store.ts';

/** The books of an account and the version of its row they were read at. */
export interface VersionedBooks {
  books: AccountBooks;
  version: bigint;
}

export interface DecidedBatch {
  /** Every account the batch looked at, changed or not. */
  accounts: readonly VersionedBooks[];
  /** The holds that it ends. */
  taken: ReadonlyMap<string, HeldFor>;
  changes: LedgerChanges;
}

/** Rows come as JSON arrays of objects: one value a table, read by the server faster than arrays by column are written here. */
const rowsOf = (place: number, columns: string) => `json_to_recordset($${place}::text::json) AS x(${columns})`;

/**
 * The accounts are locked first, in the order of their ids, so that no two batches wait for each other. Each write asks the gate,
 * and the gate is open where all versions are those the batch knows: then nothing of these accounts has changed since, for
 * whatever changes it raises the version. A hold that is not there any more closes it too.
 */
const TEXT = `
WITH asked AS MATERIALIZED (
  SELECT * FROM ${rowsOf(1, 'id text, version bigint, changed boolean, balance bigint, held bigint, last_seq bigint, last_hash text, spent bigint, day bigint, day_spent bigint, month bigint, month_spent bigint')}
), locked AS MATERIALIZED (
  SELECT id, version FROM accounts WHERE id IN (SELECT id COLLATE "C" FROM asked) ORDER BY id FOR UPDATE
), taken AS MATERIALIZED (
  SELECT * FROM ${rowsOf(2, 'call_id text, account text, key text, amount bigint')}
), gate AS MATERIALIZED (
  SELECT (SELECT count(*) FROM locked JOIN asked USING (id) WHERE locked.version = asked.version) = (SELECT count(*) FROM asked)
    AND (SELECT count(*) FROM taken JOIN holds USING (call_id, account, key, amount)) = (SELECT count(*) FROM taken) AS open
), saved AS (
  UPDATE accounts SET version = accounts.version + 1, balance = x.balance, held = x.held, last_seq = x.last_seq,
    last_hash = x.last_hash, spent = x.spent, day = x.day, day_spent = x.day_spent, month = x.month, month_spent = x.month_spent
  FROM asked AS x WHERE accounts.id = x.id AND x.changed AND (SELECT open FROM gate)
), opened AS (
  INSERT INTO holds SELECT * FROM ${rowsOf(3, 'call_id text, account text, key text, amount bigint, model text, price_id text, at bigint, owner text, sent_at bigint, checkpoint bigint')}
  WHERE (SELECT open FROM gate)
), ended AS (
  DELETE FROM holds USING taken WHERE holds.call_id = taken.call_id AND (SELECT open FROM gate)
), marked AS (
  UPDATE holds SET sent_at = coalesce(holds.sent_at, x.sent_at), checkpoint = greatest(holds.checkpoint, x.checkpoint)
  FROM ${rowsOf(4, 'call_id text, sent_at bigint, checkpoint bigint')}
  WHERE holds.call_id = x.call_id AND (SELECT open FROM gate)
), entered AS (
  INSERT INTO entries SELECT * FROM ${rowsOf(5, 'account text, seq bigint, kind text, amount bigint, balance_after bigint, counter text, call_id text, note text, idempotency_key text, at bigint, hash text')}
  WHERE (SELECT open FROM gate)
), recorded AS (
  INSERT INTO calls SELECT * FROM ${rowsOf(6, 'id text, account text, key text, at bigint, model text, provider text, target_model text, dialect text, upstream_dialect text, stream bigint, status bigint, outcome text, error_code text, attempts bigint, cost bigint, price_id text, usage text, duration_ms bigint, first_byte_ms bigint, entry_seq bigint, input_tokens bigint, output_tokens bigint')}
  WHERE (SELECT open FROM gate)
), summed AS (
  INSERT INTO call_sums AS sums SELECT * FROM ${rowsOf(7, 'account text, hour bigint, key text, model text, calls bigint, cost bigint, input_tokens bigint, output_tokens bigint')}
  WHERE (SELECT open FROM gate)
  ON CONFLICT (account, hour, key, model) DO UPDATE SET calls = sums.calls + excluded.calls, cost = sums.cost + excluded.cost,
    input_tokens = sums.input_tokens + excluded.input_tokens, output_tokens = sums.output_tokens + excluded.output_tokens
), spent AS (
  INSERT INTO spendings SELECT * FROM ${rowsOf(8, 'key text, held bigint, total bigint, day bigint, day_spent bigint, month bigint, month_spent bigint')}
  WHERE (SELECT open FROM gate)
  ON CONFLICT (key) DO UPDATE SET held = excluded.held, total = excluded.total, day = excluded.day,
    day_spent = excluded.day_spent, month = excluded.month, month_spent = excluded.month_spent
), redeemed AS (
  UPDATE codes SET redeemed_at = x.at, redeemed_by = x.account FROM ${rowsOf(9, 'hash text, account text, at bigint')}
  WHERE codes.hash = x.hash AND (SELECT open FROM gate)
)
SELECT open FROM gate`;

/** Answers one row: whether the gate was open, so that all of it is written, or none. */
export function ledgerStatement(batch: DecidedBatch): Statement {
  const { changes } = batch;
  return {
    text: TEXT,
    values: [
      json(batch.accounts.map(({ books, version }) => accountColumns(books, version, changes.accounts.has(books)))),
      json([...batch.taken].map(([call_id, { account, key, amount }]) => ({ call_id, account, key, amount }))),
      json([...changes.opened.values()].map(holdColumns)),
      json(markColumns(batch)),
      json(changes.entries.map(entryColumns)),
      json(changes.calls.map(callColumns)),
      json(
        sumCalls(changes.calls).map(({ inputTokens, outputTokens, ...sum }) => ({
          ...sum,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
        })),
      ),
      json(
        [...changes.spendings].map(([key, s]) => ({
          key,
          held: s.held,
          total: s.total,
          day: s.day,
          day_spent: s.daySpent,
          month: s.month,
          month_spent: s.monthSpent,
        })),
      ),
      json(changes.redeemed),
    ],
  };
}

/** Amounts are larger than a JSON number is exact: they go as text, which the server reads as the column's integer. */
const json = (rows: readonly object[]): string => (rows.length === 0 ? '[]' : JSON.stringify(rows, plain));
const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);

function accountColumns(books: AccountBooks, version: bigint, changed: boolean) {
  return {
    id: books.id,
    version,
    changed,
    balance: books.balance,
    held: books.held,
    last_seq: books.lastSeq,
    last_hash: books.lastHash,
    spent: books.total,
    day: books.day,
    day_spent: books.daySpent,
    month: books.month,
    month_spent: books.monthSpent,
  };
}

function holdColumns(hold: HoldRow) {
  const { callId, account, key, amount, model, priceId, at, owner, sentAt, checkpoint } = hold;
  return { call_id: callId, account, key, amount, model, price_id: priceId, at, owner, sent_at: sentAt, checkpoint };
}

/** One row a hold, and none for a hold that the batch ends: a statement changes a row once. */
function markColumns({ changes, taken }: DecidedBatch) {
  const marks = new Map<string, { call_id: string; sent_at: number | undefined; checkpoint: Money | undefined }>();
  for (const { callId, sentAt, checkpoint } of changes.marks) {
    if (taken.has(callId)) continue;
    const mark = marks.get(callId) ?? { call_id: callId, sent_at: undefined, checkpoint: undefined };
    mark.sent_at ??= sentAt;
    if (checkpoint !== undefined && checkpoint > (mark.checkpoint ?? 0n)) mark.checkpoint = checkpoint;
    marks.set(callId, mark);
  }
  return [...marks.values()];
}

function entryColumns(entry: EntryRow) {
  const { account, seq, kind, amount, balanceAfter, counter, callId, note, idempotencyKey, at, hash } = entry;
  return {
    account,
    seq,
    kind,
    amount,
    balance_after: balanceAfter,
    counter,
    call_id: callId,
    note,
    idempotency_key: idempotencyKey,
    at,
    hash,
  };
}

function callColumns({ row, entrySeq, tokens }: RecordedCall) {
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
    cost: row.cost,
    price_id: row.priceId,
    usage: row.usage,
    duration_ms: Math.round(row.durationMs),
    first_byte_ms: row.firstByteMs === undefined ? undefined : Math.round(row.firstByteMs),
    entry_seq: entrySeq,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
  };
}
