/** Keys, what they have spent, and the record of what admins changed, in SQLite. */
import type { Database } from 'bun:sqlite';
import { GatewayError } from '../../canonical/errors.ts';
import { committed, noSpending, turnTo } from '../spending.ts';
import type { AuditRow, Budget, KeyChange, KeyKind, KeyRow, Page } from '../store.ts';
import { readSpending } from './ledger-tables.ts';
import { budgetColumns, type LimitColumns, limitsFrom, updateRow } from './limit-columns.ts';

interface KeyColumns extends LimitColumns {
  id: string;
  account: string;
  kind: KeyKind;
  name: string;
  hash: string;
  last4: string;
  created_at: bigint;
  expires_at: bigint | null;
  models: string | null;
  addresses: string | null;
  scopes: string | null;
  prior_hash: string | null;
  prior_until: bigint | null;
}

function toKey(row: KeyColumns): KeyRow {
  return {
    id: row.id,
    account: row.account,
    kind: row.kind,
    name: row.name,
    hash: row.hash,
    last4: row.last4,
    createdAt: Number(row.created_at),
    ...(row.expires_at !== null && { expiresAt: Number(row.expires_at) }),
    ...(row.models !== null && { models: JSON.parse(row.models) as string[] }),
    ...(row.addresses !== null && { addresses: JSON.parse(row.addresses) as string[] }),
    ...(row.scopes !== null && { scopes: JSON.parse(row.scopes) as string[] }),
    ...(row.prior_hash !== null && { priorHash: row.prior_hash }),
    ...(row.prior_until !== null && { priorUntil: Number(row.prior_until) }),
    ...limitsFrom(row),
  };
}

export function insertKey(db: Database, key: KeyRow): void {
  if (!db.query('SELECT 1 FROM accounts WHERE id = ?').get(key.account)) {
    throw new GatewayError('not_found', `There is no account with the id "${key.account}".`);
  }
  db.query('INSERT INTO keys (id, account, kind, name, hash, last4, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    key.id,
    key.account,
    key.kind,
    key.name,
    key.hash,
    key.last4,
    key.createdAt,
  );
  changeKey(db, key.id, key);
}

export function changeKey(db: Database, id: string, change: KeyChange): KeyRow | undefined {
  const row = updateRow<KeyColumns>(db, 'keys', id, {
    name: change.name,
    hash: change.hash,
    last4: change.last4,
    expires_at: change.expiresAt,
    disabled_at: change.disabledAt,
    models: list(change.models),
    addresses: list(change.addresses),
    scopes: list(change.scopes),
    requests_per_minute: change.requestsPerMinute,
    tokens_per_minute: change.tokensPerMinute,
    concurrency: change.concurrency,
    prior_hash: change.priorHash,
    prior_until: change.priorUntil,
    ...budgetColumns(change.budget),
  });
  return row && toKey(row);
}

const list = (items: string[] | null | undefined) => (items ? JSON.stringify(items) : items);

export function readKeyByHash(db: Database, hash: string): KeyRow | undefined {
  const row = db
    .query<KeyColumns, [string]>('SELECT * FROM keys WHERE hash = ?1 OR prior_hash = ?1 ORDER BY hash <> ?1')
    .safeIntegers(true)
    .get(hash);
  return row ? toKey(row) : undefined;
}

export function readKeyById(db: Database, id: string): KeyRow | undefined {
  const row = db.query<KeyColumns, [string]>('SELECT * FROM keys WHERE id = ?').safeIntegers(true).get(id);
  return row ? toKey(row) : undefined;
}

export function deleteKey(db: Database, id: string): boolean {
  return db.query('DELETE FROM keys WHERE id = ?').run(id).changes === 1;
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

interface AuditColumns {
  id: string;
  at: number;
  actor: string;
  action: string;
  subject: string;
  before: string | null;
  after: string | null;
}

export function insertAudit(db: Database, entry: AuditRow): void {
  const { id, at, actor, action, subject, before = null, after = null } = entry;
  db.query('INSERT INTO audits (id, at, actor, action, subject, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    id,
    at,
    actor,
    action,
    subject,
    before,
    after,
  );
}

export function readAudits(db: Database, page: Page & { subject?: string }): AuditRow[] {
  return db
    .query<AuditColumns, [string | null, string | null, number]>(
      `SELECT id, at, actor, action, subject, before, after FROM audits
       WHERE (?1 IS NULL OR subject = ?1) AND (?2 IS NULL OR seq < (SELECT seq FROM audits WHERE id = ?2))
       ORDER BY seq DESC LIMIT ?3`,
    )
    .all(page.subject ?? null, page.after ?? null, page.limit)
    .map(({ before, after, ...entry }) => ({
      ...entry,
      ...(before !== null && { before }),
      ...(after !== null && { after }),
    }));
}
