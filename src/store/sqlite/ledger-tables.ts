/** The ledger's tables in SQLite: what the rules read of a batch, and what they leave to be written. */
import type { Database } from 'bun:sqlite';
import { type AccountBooks, applySteps, type LedgerChanges, type LedgerView } from '../ledger-rules.ts';
import type { Spending } from '../spending.ts';
import type { EntryRow, HeldFor, HoldRow, LedgerOutcome, LedgerStep, Page } from '../store.ts';
import { prepareCallInsert } from './call-table.ts';

/** Applies a batch within the caller's transaction. */
export function prepareLedger(db: Database): (steps: readonly LedgerStep[]) => LedgerOutcome[] {
  const view = prepareView(db);
  const write = prepareWrite(db);
  return (steps) => {
    const { outcomes, changes } = applySteps(steps, view);
    write(changes);
    return outcomes;
  };
}

interface BooksColumns extends Omit<AccountBooks, 'day' | 'month' | 'lastSeq'> {
  day: bigint;
  month: bigint;
  lastSeq: bigint;
}

function prepareView(db: Database): LedgerView {
  const account = db
    .prepare<BooksColumns, [string]>(
      `SELECT id, balance, held, spent AS total, day, day_spent AS daySpent, month, month_spent AS monthSpent,
         last_seq AS lastSeq, last_hash AS lastHash FROM accounts WHERE id = ?`,
    )
    .safeIntegers(true);
  // Two statements: DELETE … RETURNING costs three times as much.
  const findHold = db
    .prepare<HeldFor, [string]>('SELECT account, key, amount FROM holds WHERE call_id = ?')
    .safeIntegers(true);
  const deleteHold = db.prepare('DELETE FROM holds WHERE call_id = ?');
  const deleteKnown = db.prepare('DELETE FROM holds WHERE call_id = ? AND account = ? AND key = ? AND amount = ?');
  const callCost = db.prepare<{ cost: bigint }, [string]>('SELECT cost FROM calls WHERE id = ?').safeIntegers(true);
  return {
    account(id): AccountBooks | undefined {
      const row = account.get(id);
      if (!row) return undefined;
      return { ...row, day: Number(row.day), month: Number(row.month), lastSeq: Number(row.lastSeq) };
    },
    spending: (key) => readSpending(db, key),
    takeHold(callId, known) {
      if (known && deleteKnown.run(callId, known.account, known.key, known.amount).changes === 1) return known;
      const hold = findHold.get(callId);
      if (hold) deleteHold.run(callId);
      return hold ?? undefined;
    },
    callCost: (callId) => callCost.get(callId)?.cost,
    entryByKey(id, idempotencyKey) {
      const row = db
        .query<EntryColumns, [string, string]>('SELECT * FROM entries WHERE account = ? AND idempotency_key = ?')
        .safeIntegers(true)
        .get(id, idempotencyKey);
      return row ? readEntry(row) : undefined;
    },
  };
}

function prepareWrite(db: Database): (changes: LedgerChanges) => void {
  // Cached statements, row by row: measured at batches of 8 and 32, inserting from json_each costs twice as much.
  const openHold = db.prepare('INSERT INTO holds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const markHold = db.prepare(
    `UPDATE holds SET sent_at = coalesce(sent_at, ?2), checkpoint = max(coalesce(checkpoint, ?3), coalesce(?3, checkpoint))
     WHERE call_id = ?1`,
  );
  const enter = db.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const saveAccount = db.prepare(
    `UPDATE accounts SET balance = ?, held = ?, spent = ?, day = ?, day_spent = ?, month = ?, month_spent = ?,
       last_seq = ?, last_hash = ? WHERE id = ?`,
  );
  const saveSpending = db.prepare('INSERT OR REPLACE INTO spendings VALUES (?, ?, ?, ?, ?, ?, ?)');
  const insertCall = prepareCallInsert(db);
  return (changes) => {
    for (const h of changes.opened.values()) {
      const sentAt = h.sentAt ?? null;
      const checkpoint = h.checkpoint ?? null;
      openHold.run(h.callId, h.account, h.key, h.amount, h.model, h.priceId, h.at, h.owner, sentAt, checkpoint);
    }
    for (const mark of changes.marks) markHold.run(mark.callId, mark.sentAt ?? null, mark.checkpoint ?? null);
    for (const e of changes.entries) {
      const callId = e.callId ?? null;
      const note = e.note ?? null;
      const key = e.idempotencyKey ?? null;
      enter.run(e.account, e.seq, e.kind, e.amount, e.balanceAfter, e.counter, callId, note, key, e.at, e.hash);
    }
    for (const { row, entrySeq } of changes.calls) insertCall(row, entrySeq);
    for (const a of changes.accounts) {
      const { balance, held, total, day, daySpent, month, monthSpent, lastSeq, lastHash } = a;
      saveAccount.run(balance, held, total, day, daySpent, month, monthSpent, lastSeq, lastHash, a.id);
    }
    for (const [key, s] of changes.spendings) {
      saveSpending.run(key, s.held, s.total, s.day, s.daySpent, s.month, s.monthSpent);
    }
  };
}

export function readSpending(db: Database, key: string): Spending | undefined {
  const row = db
    .query<{ [column in keyof Spending]: bigint }, [string]>(
      `SELECT held, total, day, day_spent AS daySpent, month, month_spent AS monthSpent FROM spendings WHERE key = ?`,
    )
    .safeIntegers(true)
    .get(key);
  return row ? { ...row, day: Number(row.day), month: Number(row.month) } : undefined;
}

export interface EntryColumns {
  account: string;
  seq: bigint;
  kind: EntryRow['kind'];
  amount: bigint;
  balance_after: bigint;
  counter: string;
  call_id: string | null;
  note: string | null;
  idempotency_key: string | null;
  at: bigint;
  hash: string;
}

export function readEntry(row: EntryColumns): EntryRow {
  return {
    account: row.account,
    seq: Number(row.seq),
    kind: row.kind,
    amount: row.amount,
    balanceAfter: row.balance_after,
    counter: row.counter,
    ...(row.call_id !== null && { callId: row.call_id }),
    ...(row.note !== null && { note: row.note }),
    ...(row.idempotency_key !== null && { idempotencyKey: row.idempotency_key }),
    at: Number(row.at),
    hash: row.hash,
  };
}

/** The oldest entries first; `after` is a seq. */
export function readEntries(db: Database, account: string, page: Page): EntryRow[] {
  return db
    .query<EntryColumns, [string, number, number]>(
      'SELECT * FROM entries WHERE account = ? AND seq > ? ORDER BY seq LIMIT ?',
    )
    .safeIntegers(true)
    .all(account, Number(page.after ?? 0), page.limit)
    .map(readEntry);
}

interface HoldColumns {
  call_id: string;
  account: string;
  key: string;
  amount: bigint;
  model: string;
  price_id: string;
  at: bigint;
  owner: string;
  sent_at: bigint | null;
  checkpoint: bigint | null;
}

/** The open holds, of these owners or of all. */
export function readHolds(db: Database, owners: readonly string[] | undefined): HoldRow[] {
  return db
    .query<HoldColumns, [string | null]>(
      'SELECT * FROM holds WHERE ?1 IS NULL OR owner IN (SELECT value FROM json_each(?1)) ORDER BY at, call_id',
    )
    .safeIntegers(true)
    .all(owners ? JSON.stringify(owners) : null)
    .map((row) => ({
      callId: row.call_id,
      account: row.account,
      key: row.key,
      amount: row.amount,
      model: row.model,
      priceId: row.price_id,
      at: Number(row.at),
      owner: row.owner,
      ...(row.sent_at !== null && { sentAt: Number(row.sent_at) }),
      ...(row.checkpoint !== null && { checkpoint: row.checkpoint }),
    }));
}
