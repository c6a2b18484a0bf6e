/** The ledger's tables in SQLite: reads what the rules need for a batch, and writes their changes. */
import type { Database } from 'bun:sqlite';
import { type AccountBooks, applySteps, type LedgerChanges, type LedgerView } from '../ledger/ledger-rules.ts';
import type { Spending } from '../ledger/spending.ts';
import type { CallRow, EntryRow, HeldFor, LedgerOutcome, LedgerStep } from '../rows.ts';
import { type CallSum, type CompletedCall, sumCalls } from '../sums/call-sums.ts';
import { sumOverview } from '../sums/overview-sums.ts';
import { ADDED, FIGURES } from '../sums/sum-columns.ts';
import { CHANGED, HOURS_PER_DAY } from '../sums/usage-days.ts';
import { type CodeColumns, type EntryColumns, toCode, toEntry } from '../tables/book-tables.ts';
import type { BooksColumns } from '../tables/books-columns.ts';
import { FORMER_COLUMNS, type FormerColumns, toFormer } from '../tables/call-table.ts';
import { type SpendingColumns, toSpending } from '../tables/key-table.ts';
import { CALL_COLUMNS, callValues, settledValues } from './call-values.ts';
import { prepareKeyDay, prepareOverview } from './overview-rows.ts';
import { prepareFiling, prepareUnfiled } from './unfiled-calls.ts';

export interface LedgerTables {
  /** Applies a batch within the caller's transaction. */
  apply(steps: readonly LedgerStep[]): LedgerOutcome[];
  /** Files all unfiled calls, within the caller's transaction. */
  file(): void;
}

/** `mayWait`: whether somebody files calls that are left unfiled. */
export function prepareLedger(db: Database, mayWait: () => boolean): LedgerTables {
  const fileSome = prepareFiling(db);
  const file = () => {
    while (fileSome(FILED_AT_ONCE));
  };
  const view = prepareView(db, file);
  const write = prepareWrite(db);
  const writeCalls = prepareCalls(db);
  const leaveCalls = prepareUnfiled(db);
  return {
    apply(steps) {
      const { outcomes, changes } = applySteps(steps, view);
      write(changes);
      if (mayWait()) leaveCalls(changes);
      else writeCalls(changes);
      return outcomes;
    },
    file,
  };
}

const FILED_AT_ONCE = 1000;

/** `file`: writes all calls to their table, where they are read. Unfiled entries are charges, which the rules do not read. */
function prepareView(db: Database, file: () => void): LedgerView {
  const find = <Row>(text: string) => db.prepare<Row, string[]>(text).safeIntegers(true);
  const account = find<BooksColumns>(
    `SELECT id, balance, held, spent AS total, day, day_spent AS daySpent, month, month_spent AS monthSpent,
       prior_day AS priorDay, prior_day_spent AS priorDaySpent, prior_month AS priorMonth, prior_month_spent AS priorMonthSpent,
       late_since AS lateSince,
       last_seq AS lastSeq, last_hash AS lastHash FROM accounts WHERE id = ?`,
  );
  const spending = find<SpendingColumns>('SELECT * FROM spendings WHERE key = ?');
  // Two statements: DELETE … RETURNING takes three times as long.
  const findHold = find<HeldFor>('SELECT account, key, amount FROM holds WHERE call_id = ?');
  const deleteHold = db.prepare('DELETE FROM holds WHERE call_id = ?');
  const deleteKnown = db.prepare('DELETE FROM holds WHERE call_id = ? AND account = ? AND key = ? AND amount = ?');
  const call = find<FormerColumns>(`SELECT ${FORMER_COLUMNS} FROM calls WHERE id = ?`);
  const corrections = find<{ sum: bigint }>(
    "SELECT coalesce(sum(amount), 0) AS sum FROM entries WHERE call_id = ? AND kind <> 'charge' AND kind <> 'completion'",
  );
  const entryByKey = find<EntryColumns>('SELECT * FROM entries WHERE account = ? AND idempotency_key = ?');
  const code = find<CodeColumns>('SELECT * FROM codes WHERE hash = ?');
  return {
    account(id): AccountBooks | undefined {
      const row = account.get(id);
      if (!row) return undefined;
      return {
        id: row.id,
        balance: row.balance,
        held: row.held,
        total: row.total,
        day: Number(row.day),
        daySpent: row.daySpent,
        month: Number(row.month),
        monthSpent: row.monthSpent,
        priorDay: Number(row.priorDay),
        priorDaySpent: row.priorDaySpent,
        priorMonth: Number(row.priorMonth),
        priorMonthSpent: row.priorMonthSpent,
        lateSince: Number(row.lateSince),
        lastSeq: Number(row.lastSeq),
        lastHash: row.lastHash,
      };
    },
    spending(key): Spending | undefined {
      const row = spending.get(key);
      return row ? toSpending(row) : undefined;
    },
    takeHold(callId, known) {
      if (known && deleteKnown.run(callId, known.account, known.key, known.amount).changes === 1) return known;
      const hold = findHold.get(callId);
      if (hold) deleteHold.run(callId);
      return hold ?? undefined;
    },
    openHold: (callId) => findHold.get(callId) ?? undefined,
    call(callId) {
      file();
      const row = call.get(callId);
      return row ? toFormer(row) : undefined;
    },
    corrections: (callId) => corrections.get(callId)?.sum ?? 0n,
    entryByKey(id, idempotencyKey) {
      const row = entryByKey.get(id, idempotencyKey);
      return row ? toEntry(row) : undefined;
    },
    code(hash) {
      const row = code.get(hash);
      return row ? toCode(row) : undefined;
    },
  };
}

function prepareWrite(db: Database): (changes: LedgerChanges) => void {
  // Cached statements, one row each: inserting from json_each took twice as long for batches of 8 and 32. Columns are named, because a
  // newer program may have added others.
  const openHold = db.prepare(
    `INSERT INTO holds (call_id, account, key, amount, model, price_id, at, owner, sent_at, checkpoint)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const markHold = db.prepare(
    `UPDATE holds SET sent_at = coalesce(sent_at, ?2), checkpoint = max(coalesce(checkpoint, ?3), coalesce(?3, checkpoint)),
       amount = coalesce(?4, amount)
     WHERE call_id = ?1`,
  );
  const enter = prepareEntry(db);
  const saveAccount = db.prepare(
    `UPDATE accounts SET balance = ?, held = ?, spent = ?, day = ?, day_spent = ?, month = ?, month_spent = ?,
       prior_day = ?, prior_day_spent = ?, prior_month = ?, prior_month_spent = ?, late_since = ?,
       last_seq = ?, last_hash = ? WHERE id = ?`,
  );
  const saveSpending = db.prepare(
    `INSERT INTO spendings (key, held, total, day, day_spent, month, month_spent, prior_day, prior_day_spent, prior_month, prior_month_spent, late_since)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET held = excluded.held, total = excluded.total, day = excluded.day,
       day_spent = excluded.day_spent, month = excluded.month, month_spent = excluded.month_spent,
       prior_day = excluded.prior_day, prior_day_spent = excluded.prior_day_spent,
       prior_month = excluded.prior_month, prior_month_spent = excluded.prior_month_spent, late_since = excluded.late_since`,
  );
  const redeem = db.prepare('UPDATE codes SET redeemed_at = ?, redeemed_by = ? WHERE hash = ?');
  const audit = db.prepare(
    'INSERT INTO audits (id, at, actor, action, subject, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const complete = prepareCompletions(db);
  return (changes) => {
    for (const h of changes.opened.values()) {
      const sentAt = h.sentAt ?? null;
      const checkpoint = h.checkpoint ?? null;
      openHold.run(h.callId, h.account, h.key, h.amount, h.model, h.priceId, h.at, h.owner, sentAt, checkpoint);
    }
    for (const { callId, sentAt, checkpoint, amount } of changes.marks) {
      markHold.run(callId, sentAt ?? null, checkpoint ?? null, amount ?? null);
    }
    for (const entry of changes.entries) if (entry.kind !== 'charge') enter(entry);
    if (changes.completed.length > 0) complete(changes.completed);
    for (const a of changes.accounts) {
      saveAccount.run(a.balance, a.held, a.total, ...windowsOf(a), a.lastSeq, a.lastHash, a.id);
    }
    for (const [key, s] of changes.spendings) {
      saveSpending.run(key, s.held, s.total, ...windowsOf(s));
    }
    for (const { hash, account, at } of changes.redeemed) redeem.run(at, account, hash);
    for (const { id, at, actor, action, subject, before, after } of changes.audits) {
      audit.run(id, at, actor, action, subject, before ?? null, after ?? null);
    }
  };
}

function prepareEntry(db: Database): (entry: EntryRow) => void {
  const insert = db.prepare(
    `INSERT INTO entries (account, seq, kind, amount, balance_after, counter, call_id, note, idempotency_key, at, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (e) => {
    const callId = e.callId ?? null;
    const note = e.note ?? null;
    const key = e.idempotencyKey ?? null;
    insert.run(e.account, e.seq, e.kind, e.amount, e.balanceAfter, e.counter, callId, note, key, e.at, e.hash);
  };
}

/** Writes calls, their charges and their sums at once. */
function prepareCalls(db: Database): (changes: LedgerChanges) => void {
  const enter = prepareEntry(db);
  const record = db.prepare(
    `INSERT INTO calls (${CALL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const addSum = prepareSum(db);
  const addOverview = prepareOverview(db);
  const tagCall = prepareTags(db);
  return ({ entries, calls }) => {
    for (const entry of entries) if (entry.kind === 'charge') enter(entry);
    for (const call of calls) {
      record.run(...callValues(call));
      tagCall(call.row);
    }
    for (const sum of sumCalls(calls, [])) addSum(sum);
    addOverview(sumOverview(calls, []));
  };
}

function prepareCompletions(db: Database): (calls: readonly CompletedCall[]) => void {
  const completeCall = prepareCompletion(db);
  const addSum = prepareSum(db);
  const addOverview = prepareOverview(db);
  return (calls) => {
    for (const call of calls) completeCall(call);
    for (const sum of sumCalls([], calls)) addSum(sum);
    addOverview(sumOverview([], calls));
  };
}

function prepareCompletion(db: Database): (call: CompletedCall) => void {
  const update = db.prepare(
    `UPDATE calls SET provisional = 0, provider = ?, target_model = ?, dialect = ?, upstream_dialect = ?, stream = ?, status = ?,
       outcome = ?, error_code = ?, attempts = ?, cost = ?, price_id = ?, usage = ?, duration_ms = ?, first_byte_ms = ?,
       input_tokens = ?, output_tokens = ?, completion_seq = ?, saved = ?, receipt = ?, provider_cost = ?
     WHERE id = ?`,
  );
  const tagCall = prepareTags(db);
  return ({ row: c, completionSeq, tokens }) => {
    update.run(
      ...settledValues(c),
      tokens.input,
      tokens.output,
      completionSeq ?? null,
      c.saved ?? 0n,
      c.receipt ?? null,
      c.providerCost ?? null,
      c.id,
    );
    tagCall(c);
  };
}

function prepareTags(db: Database): (call: CallRow) => void {
  const insert = db.prepare('INSERT INTO call_tags (tag, at, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  return ({ tags, at, id }) => {
    if (tags) for (const tag of tags) insert.run(tag, at, id);
  };
}

function prepareSum(db: Database): (sum: CallSum) => void {
  const add = db.prepare(`INSERT INTO call_sums AS sums (account, hour, key, model, ${FIGURES})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${ADDED}`);
  const addPart = db.prepare(`INSERT INTO usage_sums AS sums (account, hour, key, model, provider, tag, ${FIGURES})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${ADDED}`);
  const addKeyDay = prepareKeyDay(db);
  const changeDay = db.prepare(`${CHANGED} = ?`);
  return (s) => {
    const figures = [
      s.calls,
      s.cost,
      s.inputTokens,
      s.outputTokens,
      s.saved,
      s.providerCost,
      s.costedCalls,
      s.costedCharge,
    ] as const;
    if (s.tag === '') {
      add.run(s.account, s.hour, s.key, s.model, ...figures);
      addKeyDay(s.account, s.hour, s.key, s.calls, s.cost, s.inputTokens + s.outputTokens);
      changeDay.run(Math.floor(s.hour / HOURS_PER_DAY));
    }
    addPart.run(s.account, s.hour, s.key, s.model, s.provider, s.tag, ...figures);
  };
}

const windowsOf = (s: Spending) =>
  [
    s.day,
    s.daySpent,
    s.month,
    s.monthSpent,
    s.priorDay,
    s.priorDaySpent,
    s.priorMonth,
    s.priorMonthSpent,
    s.lateSince,
  ] as const;
