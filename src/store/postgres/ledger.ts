/** A batch of the ledger on Postgres: one statement if the cached balances are current, otherwise decided under locks. */
import { randomUUID } from 'node:crypto';
import { raw, type Statement, sql } from '../database.ts';
import { type AccountBooks, applySteps, type LedgerChanges, type LedgerView } from '../ledger/ledger-rules.ts';
import type { Spending } from '../ledger/spending.ts';
import { accountOfStep } from '../ledger/step-account.ts';
import type { HeldFor, LedgerOutcome, LedgerStep } from '../rows.ts';
import { insertAudit } from '../tables/audit-table.ts';
import { type CodeColumns, type EntryColumns, toCode, toEntry } from '../tables/book-tables.ts';
import type { BooksColumns } from '../tables/books-columns.ts';
import { FORMER_COLUMNS, type FormerColumns, toFormer } from '../tables/call-table.ts';
import { type SpendingColumns, toSpending } from '../tables/key-table.ts';
import { type BatchNeeds, needsOf } from './batch-needs.ts';
import type { PostgresConnection, RunStatement } from './connection.ts';
import { ledgerStatement, type VersionedBooks } from './ledger-statement.ts';

/** The last known state of an account. If another process has changed it since, the statement does nothing. */
interface CachedBooks extends VersionedBooks {
  /** The spending of its keys at this version. Missing keys were not read. */
  spendings: Map<string, Spending | undefined>;
}

interface Decided {
  outcomes: LedgerOutcome[];
  changes: LedgerChanges;
  accounts: VersionedBooks[];
  /** Accounts that were locked and not waited for. */
  busy: ReadonlySet<string>;
}

const NOBODY: ReadonlySet<string> = new Set();

const MOST_REMEMBERED = 10_000;
/** After another process changed an account, this number of its batches are decided under its lock directly. */
const SHARED_FOR = 16;

export function postgresLedger({ all, transact }: PostgresConnection) {
  const remembered = new Map<string, CachedBooks>();
  const shared = new Map<string, number>();
  const process = randomUUID();
  const freeWriters: string[] = [];
  let writers = 0;

  return async function ledger(steps: readonly LedgerStep[], waits: boolean): Promise<LedgerOutcome[]> {
    const needs = needsOf(steps);
    const writer = freeWriters.pop() ?? `${process}-${++writers}`;
    try {
      if (isAtHand(needs)) {
        const decided = await commitFromMemory(steps, needs, writer);
        if (decided) return decided.outcomes;
      }
      const decided = await transact((run) => decideUnderLock(run, steps, { needs, waits, writer }));
      remember(decided, needs);
      for (const id of decided.busy) shared.set(id, SHARED_FOR);
      return decided.outcomes;
    } catch (thrown) {
      // It is unknown whether the statement was committed.
      for (const id of needs.accounts) remembered.delete(id);
      throw thrown;
    } finally {
      freeWriters.push(writer);
    }
  };

  function isAtHand({ accounts, keys, looksUp }: BatchNeeds): boolean {
    if (looksUp) return false;
    let isShared = false;
    for (const id of accounts) {
      if (!remembered.has(id)) return false;
      const left = shared.get(id);
      if (left === undefined) continue;
      if (left > 1) shared.set(id, left - 1);
      else shared.delete(id);
      isShared = true;
    }
    if (isShared) return false;
    for (const [key, account] of keys) if (!remembered.get(account)?.spendings.has(key)) return false;
    return true;
  }

  /** `undefined` if the balances have changed meanwhile: nothing was written. */
  async function commitFromMemory(
    steps: readonly LedgerStep[],
    needs: BatchNeeds,
    writer: string,
  ): Promise<Decided | undefined> {
    const accounts = new Map<string, VersionedBooks>();
    const taken = new Map<string, HeldFor>();
    const view: LedgerView = {
      ...NOTHING_LOOKED_UP,
      account: (id) => copyBooks(remembered.get(id), accounts),
      spending: (key) => copySpending(remembered.get(needs.keys.get(key) ?? '')?.spendings.get(key)),
      takeHold: (callId, known) => takeOnce(taken, callId, known),
    };
    const { outcomes, changes } = applySteps(steps, view);
    const decided = { outcomes, changes, accounts: [...accounts.values()], busy: NOBODY };
    const [written] = await all<{ open: boolean }>(ledgerStatement({ ...decided, taken, writer }));
    if (!written?.open) return undefined;
    remember(decided, needs);
    return decided;
  }

  /** The spending of keys belongs to one version of their account and is invalid for any other. */
  function remember({ accounts, changes }: Decided, { keys }: BatchNeeds): void {
    if (remembered.size > MOST_REMEMBERED) remembered.clear();
    for (const { books, version } of accounts) {
      const before = remembered.get(books.id);
      if (before && before.version !== version) shared.set(books.id, SHARED_FOR);
      const spendings = before?.version === version ? before.spendings : new Map<string, Spending | undefined>();
      const newVersion = changes.accounts.has(books) ? version + 1n : version;
      remembered.set(books.id, { books, version: newVersion, spendings });
    }
    for (const [key, spending] of changes.spendings) {
      const account = keys.get(key);
      if (account !== undefined) remembered.get(account)?.spendings.set(key, spending);
    }
  }
}

const NOTHING_LOOKED_UP: Omit<LedgerView, 'account' | 'spending' | 'takeHold'> = {
  openHold: () => undefined,
  call: () => undefined,
  corrections: () => 0n,
  entryByKey: () => undefined,
  code: () => undefined,
};

/** Copies, because the rules change the objects they are given. */
function copyBooks(known: VersionedBooks | undefined, seen: Map<string, VersionedBooks>): AccountBooks | undefined {
  if (!known) return undefined;
  const books = { ...known.books };
  seen.set(books.id, { books, version: known.version });
  return books;
}

const copySpending = (known: Spending | undefined): Spending | undefined => known && { ...known };

/** A hold exists once within a batch. */
function takeOnce(taken: Map<string, HeldFor>, callId: string, hold: HeldFor | undefined): HeldFor | undefined {
  if (!hold || taken.has(callId)) return undefined;
  taken.set(callId, hold);
  return hold;
}

interface VersionedColumns extends BooksColumns {
  version: bigint;
}

interface LockedWay {
  needs: BatchNeeds;
  /** Whether to wait for locked accounts. Otherwise their steps are left out. */
  waits: boolean;
  writer: string;
}

/** First locks, then reads: each statement sees what was committed before it. */
export async function decideUnderLock(
  run: RunStatement,
  all: readonly LedgerStep[],
  { needs, waits, writer }: LockedWay = { needs: needsOf(all), waits: true, writer: '' },
): Promise<Decided> {
  const ids = among(needs.accounts);
  const calls = among(needs.calls);
  const codes = among(needs.codes);
  const corrected = among(needs.corrected);
  const none = <Row>(): Promise<Row[]> => Promise.resolve([]);
  const [locked, codeRows, books, spendings, holds, recorded, corrections, entries] = await Promise.all([
    run<{ id: string }>(
      sql`SELECT id FROM accounts WHERE id ${ids} ORDER BY id || '' FOR UPDATE ${raw(waits ? '' : 'SKIP LOCKED')}`,
    ),
    needs.codes.size === 0
      ? none<CodeColumns>()
      : run<CodeColumns>(sql`SELECT * FROM codes WHERE hash ${codes} ORDER BY hash || '' FOR UPDATE`),
    run<VersionedColumns>(sql`SELECT ${BOOKS} FROM accounts WHERE id ${ids}`),
    run<SpendingColumns>(
      sql`SELECT * FROM spendings WHERE key = ANY (ARRAY(${valuesOf(needs.keys.keys())}
          UNION SELECT key FROM holds WHERE call_id ${calls}))`,
    ),
    needs.calls.size === 0
      ? none<HeldFor & { call_id: string }>()
      : run<HeldFor & { call_id: string }>(sql`SELECT call_id, account, key, amount FROM holds WHERE call_id ${calls}`),
    needs.looked.size === 0
      ? none<FormerColumns>()
      : run<FormerColumns>(sql`SELECT ${raw(FORMER_COLUMNS)} FROM calls WHERE id ${among(needs.looked, NOT_HELD)}`),
    needs.corrected.size === 0
      ? none<{ call_id: string; sum: bigint }>()
      : run<{ call_id: string; sum: bigint }>(
          sql`SELECT call_id, CAST(sum(amount) AS BIGINT) AS sum FROM entries
            WHERE call_id ${corrected} AND kind <> 'charge' AND kind <> 'completion' GROUP BY call_id`,
        ),
    needs.idempotencyKeys.size + needs.codes.size === 0
      ? none<EntryColumns>()
      : run<EntryColumns>(
          sql`SELECT * FROM entries WHERE account ${ids} AND idempotency_key = ANY (ARRAY(${valuesOf(needs.idempotencyKeys)}
            UNION ALL SELECT 'code:' || id FROM codes WHERE hash ${codes}))`,
        ),
  ]);
  const busy = waits ? NOBODY : lockedByOthers(books, locked);
  const steps = busy.size === 0 ? all : all.filter((step) => !busy.has(accountOfStep(step) ?? ''));
  const known = new Map(
    books.map(({ version, day, month, priorDay, priorMonth, lateSince, lastSeq, ...row }) => {
      const windows = {
        day: Number(day),
        month: Number(month),
        priorDay: Number(priorDay),
        priorMonth: Number(priorMonth),
        lateSince: Number(lateSince),
      };
      return [row.id, { books: { ...row, ...windows, lastSeq: Number(lastSeq) }, version }];
    }),
  );
  const accounts = new Map<string, VersionedBooks>();
  const taken = new Map<string, HeldFor>();
  const spendingOf = new Map(spendings.map((row) => [row.key, row]));
  const holdOf = new Map(holds.map((row) => [row.call_id, row]));
  const callOf = new Map(recorded.map((row) => [row.id, row]));
  const view: LedgerView = {
    account: (id) => copyBooks(known.get(id), accounts),
    spending: (key) => optional(spendingOf.get(key), toSpending),
    takeHold: (callId) => takeOnce(taken, callId, optional(holdOf.get(callId), toHeldFor)),
    openHold: (callId) => (taken.has(callId) ? undefined : optional(holdOf.get(callId), toHeldFor)),
    call: (callId) => optional(callOf.get(callId), toFormer),
    corrections: (callId) => corrections.find(({ call_id }) => call_id === callId)?.sum ?? 0n,
    entryByKey: (account, key) =>
      optional(
        entries.find((row) => row.account === account && row.idempotency_key === key),
        toEntry,
      ),
    code: (hash) =>
      optional(
        codeRows.find((row) => row.hash === hash),
        toCode,
      ),
  };
  const { outcomes, changes } = applySteps(steps, view);
  const decided = { outcomes: answersTo(all, outcomes, busy), changes, accounts: [...accounts.values()], busy };
  if (steps.length === 0) return decided;
  const [written] = await run<{ open: boolean }>(ledgerStatement({ ...decided, taken, writer }));
  if (!written?.open) throw new Error('The balances of locked accounts have changed.');
  for (const audit of changes.audits) await run(insertAudit(audit));
  return decided;
}

function lockedByOthers(books: readonly VersionedColumns[], locked: readonly { id: string }[]): Set<string> {
  const ours = new Set(locked.map(({ id }) => id));
  return new Set(books.flatMap(({ id }) => (ours.has(id) ? [] : [id])));
}

/** Puts the outcomes of the decided steps in their places among all steps. */
function answersTo(all: readonly LedgerStep[], outcomes: LedgerOutcome[], busy: ReadonlySet<string>): LedgerOutcome[] {
  if (busy.size === 0) return outcomes;
  const decided = outcomes.values();
  return all.map((step) => (busy.has(accountOfStep(step) ?? '') ? BUSY : (decided.next().value ?? BUSY)));
}

const BUSY: LedgerOutcome = { type: 'busy' };

/** A call with an open hold has no record, so the partitions of all days need not be searched for it. */
const NOT_HELD = raw('WHERE NOT EXISTS (SELECT 1 FROM holds WHERE call_id = value COLLATE "C")');

/** One parameter for any number of values, so that the statement is already prepared. */
function valuesOf(values: Iterable<string>): Statement {
  const list = JSON.stringify([...values]);
  return sql`SELECT value COLLATE "C" FROM json_array_elements_text(CAST(CAST(${list} AS TEXT) AS JSON))`;
}

/** A list, so that each value is found by the index and nothing is joined. */
function among(values: Iterable<string>, but: Statement = raw('')): Statement {
  return sql`= ANY (ARRAY(${valuesOf(values)} ${but}))`;
}

const BOOKS = raw(`id, balance, held, spent AS total, day, day_spent AS "daySpent", month, month_spent AS "monthSpent",
  prior_day AS "priorDay", prior_day_spent AS "priorDaySpent", prior_month AS "priorMonth", prior_month_spent AS "priorMonthSpent",
  late_since AS "lateSince",
  last_seq AS "lastSeq", last_hash AS "lastHash", version`);

const toHeldFor = ({ account, key, amount }: HeldFor): HeldFor => ({ account, key, amount });

const optional = <From, To>(value: From | undefined, read: (value: From) => To): To | undefined =>
  value === undefined ? undefined : read(value);
