/** Accounts, keys and what keys have spent, in SQLite. */
import type { Database } from 'bun:sqlite';
import { GatewayError } from '../../canonical/errors.ts';
import { CHAIN_START } from '../entry-hash.ts';
import { committed, noSpending, turnTo } from '../spending.ts';
import type { AccountRow, Budget, KeyKind, KeyRow, Page } from '../store.ts';
import { readSpending } from './ledger-tables.ts';

interface AccountColumns {
  id: string;
  name: string;
  balance: bigint;
  held: bigint;
  created_at: bigint;
}

function toAccount(row: AccountColumns): AccountRow {
  return { id: row.id, name: row.name, balance: row.balance, held: row.held, createdAt: Number(row.created_at) };
}

/** An account begins empty: money comes in by entries alone. */
export function insertAccount(db: Database, account: AccountRow): void {
  if (account.balance !== 0n || account.held !== 0n) {
    throw new Error('A new account has no money: its balance comes from entries.');
  }
  db.query(
    `INSERT INTO accounts (id, name, balance, held, last_seq, last_hash, created_at) VALUES (?, ?, 0, 0, 0, ?, ?)`,
  ).run(account.id, account.name, CHAIN_START, account.createdAt);
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

interface KeyColumns {
  id: string;
  account: string;
  kind: KeyKind;
  name: string;
  hash: string;
  last4: string;
  created_at: bigint;
  expires_at: bigint | null;
  disabled_at: bigint | null;
  models: string | null;
  addresses: string | null;
  scopes: string | null;
  budget_total: bigint | null;
  budget_day: bigint | null;
  budget_month: bigint | null;
  requests_per_minute: bigint | null;
  tokens_per_minute: bigint | null;
  concurrency: bigint | null;
}

function toKey(row: KeyColumns): KeyRow {
  const budget: Budget = {
    ...(row.budget_total !== null && { total: row.budget_total }),
    ...(row.budget_day !== null && { day: row.budget_day }),
    ...(row.budget_month !== null && { month: row.budget_month }),
  };
  return {
    id: row.id,
    account: row.account,
    kind: row.kind,
    name: row.name,
    hash: row.hash,
    last4: row.last4,
    createdAt: Number(row.created_at),
    ...(row.expires_at !== null && { expiresAt: Number(row.expires_at) }),
    ...(row.disabled_at !== null && { disabledAt: Number(row.disabled_at) }),
    ...(row.models !== null && { models: JSON.parse(row.models) as string[] }),
    ...(row.addresses !== null && { addresses: JSON.parse(row.addresses) as string[] }),
    ...(row.scopes !== null && { scopes: JSON.parse(row.scopes) as string[] }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(row.requests_per_minute !== null && { requestsPerMinute: Number(row.requests_per_minute) }),
    ...(row.tokens_per_minute !== null && { tokensPerMinute: Number(row.tokens_per_minute) }),
    ...(row.concurrency !== null && { concurrency: Number(row.concurrency) }),
  };
}

const list = (items: string[] | undefined) => (items ? JSON.stringify(items) : null);

export function insertKey(db: Database, key: KeyRow): void {
  if (!db.query('SELECT 1 FROM accounts WHERE id = ?').get(key.account)) {
    throw new GatewayError('not_found', `There is no account with the id "${key.account}".`);
  }
  db.query(
    `INSERT INTO keys (id, account, kind, name, hash, last4, created_at, expires_at, disabled_at, models, addresses,
       scopes, budget_total, budget_day, budget_month, requests_per_minute, tokens_per_minute, concurrency)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    key.id,
    key.account,
    key.kind,
    key.name,
    key.hash,
    key.last4,
    key.createdAt,
    key.expiresAt ?? null,
    key.disabledAt ?? null,
    list(key.models),
    list(key.addresses),
    list(key.scopes),
    key.budget?.total ?? null,
    key.budget?.day ?? null,
    key.budget?.month ?? null,
    key.requestsPerMinute ?? null,
    key.tokensPerMinute ?? null,
    key.concurrency ?? null,
  );
}

/** A member that is absent stays as it is; `disabledAt: null` enables the key again. */
export function changeKey(
  db: Database,
  id: string,
  change: { disabledAt?: number | null; hash?: string; last4?: string },
): KeyRow | undefined {
  const row = db
    .query<KeyColumns, [string, number, number | null, string | null, string | null]>(
      `UPDATE keys SET disabled_at = iif(?2, ?3, disabled_at), hash = coalesce(?4, hash), last4 = coalesce(?5, last4)
       WHERE id = ?1 RETURNING *`,
    )
    .safeIntegers(true)
    .get(
      id,
      change.disabledAt === undefined ? 0 : 1,
      change.disabledAt ?? null,
      change.hash ?? null,
      change.last4 ?? null,
    );
  return row ? toKey(row) : undefined;
}

export function readKeyByHash(db: Database, hash: string): KeyRow | undefined {
  const row = db.query<KeyColumns, [string]>('SELECT * FROM keys WHERE hash = ?').safeIntegers(true).get(hash);
  return row ? toKey(row) : undefined;
}

export function readKeys(db: Database, page: Page & { account?: string }): KeyRow[] {
  return db
    .query<KeyColumns, [string | null, string | null, number]>(
      `SELECT * FROM keys WHERE (?1 IS NULL OR account = ?1) AND (?2 IS NULL OR seq > (SELECT seq FROM keys WHERE id = ?2))
       ORDER BY seq LIMIT ?3`,
    )
    .safeIntegers(true)
    .all(page.account ?? null, page.after ?? null, page.limit)
    .map(toKey);
}

export function readKeySpending(db: Database, id: string, now: number): Required<Budget> {
  const spending = readSpending(db, id) ?? noSpending();
  turnTo(spending, now);
  return committed(spending);
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
