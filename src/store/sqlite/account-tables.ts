/** Accounts, what they have spent, and who is alive, in SQLite. */
import type { Database } from 'bun:sqlite';
import { GatewayError } from '../../canonical/errors.ts';
import { CHAIN_START } from '../entry-hash.ts';
import { committed, noSpending, turnTo } from '../spending.ts';
import type { AccountChange, AccountRow, Budget, Page } from '../store.ts';
import { budgetColumns, type LimitColumns, limitsFrom, updateRow } from './limit-columns.ts';

interface AccountColumns extends LimitColumns {
  id: string;
  name: string;
  balance: bigint;
  held: bigint;
  created_at: bigint;
}

function toAccount(row: AccountColumns): AccountRow {
  return {
    id: row.id,
    name: row.name,
    balance: row.balance,
    held: row.held,
    createdAt: Number(row.created_at),
    ...limitsFrom(row),
  };
}

/** An account begins empty: money comes in by entries alone. */
export function insertAccount(db: Database, account: AccountRow): void {
  if (account.balance !== 0n || account.held !== 0n) {
    throw new Error('A new account has no money: its balance comes from entries.');
  }
  db.query(
    `INSERT INTO accounts (id, name, balance, held, last_seq, last_hash, created_at) VALUES (?, ?, 0, 0, 0, ?, ?)`,
  ).run(account.id, account.name, CHAIN_START, account.createdAt);
  changeAccount(db, account.id, account);
}

export function changeAccount(db: Database, id: string, change: AccountChange): AccountRow | undefined {
  const row = updateRow<AccountColumns>(db, 'accounts', id, {
    name: change.name,
    disabled_at: change.disabledAt,
    requests_per_minute: change.requestsPerMinute,
    tokens_per_minute: change.tokensPerMinute,
    concurrency: change.concurrency,
    ...budgetColumns(change.budget),
  });
  return row && toAccount(row);
}

/** Spent and held together, per window. */
export function readAccountSpending(db: Database, id: string, now: number): Required<Budget> {
  const row = db
    .query<{ held: bigint; total: bigint; day: bigint; daySpent: bigint; month: bigint; monthSpent: bigint }, [string]>(
      'SELECT held, spent AS total, day, day_spent AS daySpent, month, month_spent AS monthSpent FROM accounts WHERE id = ?',
    )
    .safeIntegers(true)
    .get(id);
  const spending = row ? { ...row, day: Number(row.day), month: Number(row.month) } : noSpending();
  turnTo(spending, now);
  return committed(spending);
}

/** By id, else by name; a name that several accounts bear names none of them. */
export function readAccount(db: Database, idOrName: string): AccountRow | undefined {
  const rows = db
    .query<AccountColumns, [string]>('SELECT * FROM accounts WHERE id = ?1 OR name = ?1 ORDER BY id <> ?1 LIMIT 2')
    .safeIntegers(true)
    .all(idOrName);
  const [first] = rows;
  if (first && first.id !== idOrName && rows.length > 1) {
    throw new GatewayError('conflict', `Several accounts are named "${idOrName}": use the id.`);
  }
  return first && toAccount(first);
}

export function readAccounts(db: Database, page: Page): AccountRow[] {
  return db
    .query<AccountColumns, [string | null, number]>(
      `SELECT * FROM accounts WHERE ?1 IS NULL OR seq > (SELECT seq FROM accounts WHERE id = ?1) ORDER BY seq LIMIT ?2`,
    )
    .safeIntegers(true)
    .all(page.after ?? null, page.limit)
    .map(toAccount);
}

/** Renews the owner's mark, and forgets marks too old to matter to anybody. */
export function saveHeartbeat(db: Database, owner: string, at: number): void {
  const DAY_MS = 86_400_000;
  db.query('INSERT OR REPLACE INTO owners VALUES (?, ?)').run(owner, at);
  db.query('DELETE FROM owners WHERE at < ?').run(at - DAY_MS);
}

/** Owners of open holds whose mark is older than `aliveSince`, or who never left one and whose hold is older than that. */
export function readDeadOwners(db: Database, aliveSince: number): string[] {
  return db
    .query<{ owner: string }, [number]>(
      `SELECT DISTINCT holds.owner FROM holds LEFT JOIN owners USING (owner) WHERE coalesce(owners.at, holds.at) < ?`,
    )
    .all(aliveSince)
    .map((row) => row.owner);
}
