/** Read access to the ledger: entries, open holds, codes, live processes. */
import { type Database, insertInto, raw, sql, where, within } from '../database.ts';
import type { LeaseStore, OwnerRow } from '../leases.ts';
import type { CodeRow, EntryRow, HoldRow } from '../rows.ts';
import type { Store } from '../store.ts';
import { recorded } from './audit-table.ts';

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

export interface CodeColumns {
  id: string;
  hash: string;
  last4: string;
  amount: bigint;
  note: string | null;
  created_at: bigint;
  expires_at: bigint | null;
  redeemed_at: bigint | null;
  redeemed_by: string | null;
}

export function bookTables(db: Database): Pick<Store, 'holds' | 'entries' | 'entryByKey' | 'corrections'> {
  return {
    async holds(filter) {
      const owners = filter?.owners && sql`owner ${within(filter.owners)}`;
      const rows = await db.all<HoldColumns>(sql`SELECT * FROM holds ${where([owners])} ORDER BY at, call_id`);
      return rows.map(toHold);
    },

    async entries(account, { limit, after, newestFirst = false }) {
      const [beyond, order] = newestFirst ? [raw('<'), raw('DESC')] : [raw('>'), raw('ASC')];
      const from = after === undefined ? undefined : sql`seq ${beyond} ${Number(after)}`;
      const rows = await db.all<EntryColumns>(
        sql`SELECT * FROM entries ${where([sql`account = ${account}`, from])} ORDER BY seq ${order} LIMIT ${limit}`,
      );
      return rows.map(toEntry);
    },

    async entryByKey(account, key) {
      const [row] = await db.all<EntryColumns>(
        sql`SELECT * FROM entries WHERE account = ${account} AND idempotency_key = ${key}`,
      );
      return row && toEntry(row);
    },

    async corrections(callId) {
      const [row] = await db.all<{ sum: bigint }>(
        sql`SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) AS sum FROM entries WHERE call_id = ${callId} AND kind <> 'charge' AND kind <> 'completion'`,
      );
      return row?.sum ?? 0n;
    },
  };
}

export function codeTable(db: Database): Pick<Store, 'createCode' | 'codes'> {
  return {
    createCode(code, audit, idempotencyKey) {
      const { id, hash, last4, amount, note, createdAt, expiresAt } = code;
      const columns = { id, hash, last4, amount, note, created_at: createdAt, expires_at: expiresAt };
      const insertion = insertInto('codes', { ...columns, idempotency_key: idempotencyKey });
      return db.steps(function* () {
        const [made] = yield sql`${insertion} ON CONFLICT DO NOTHING RETURNING id`;
        if (made) {
          yield* recorded(audit, undefined, code);
          return code;
        }
        const [first] = yield sql`SELECT * FROM codes WHERE idempotency_key = ${idempotencyKey ?? null}`;
        if (!first) throw new Error(`The code ${id} already exists.`);
        return toCode(first as CodeColumns);
      });
    },

    async codes({ limit, after }) {
      const beyond = after === undefined ? undefined : sql`seq > (SELECT seq FROM codes WHERE id = ${after})`;
      const rows = await db.all<CodeColumns>(sql`SELECT * FROM codes ${where([beyond])} ORDER BY seq LIMIT ${limit}`);
      return rows.map(toCode);
    },
  };
}

/** Older leases can be removed, unless holds belong to them: then a clock is wrong, theirs or ours. */
const FORGOTTEN_MS = 86_400_000;

export function ownerTable(db: Database): LeaseStore {
  return {
    async heartbeat(owner, at) {
      const [renewed = []] = await db.together([
        sql`${insertInto('owners', { owner, at })} ON CONFLICT (owner) DO UPDATE SET at = excluded.at
          WHERE owners.ended_at IS NULL RETURNING owner`,
        sql`DELETE FROM owners WHERE at < ${at - FORGOTTEN_MS}
          AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.owner = owners.owner)`,
      ]);
      return renewed.length > 0;
    },

    async endLease(owner, mark, at) {
      // A lease that was never renewed has no row, unless it is renewed at this moment.
      const ended =
        mark === undefined
          ? await db.all(
              sql`${insertInto('owners', { owner, at, ended_at: at })} ON CONFLICT (owner) DO UPDATE SET at = owners.at
                WHERE owners.ended_at IS NOT NULL RETURNING owner`,
            )
          : await db.all(
              sql`UPDATE owners SET ended_at = coalesce(ended_at, ${at}) WHERE owner = ${owner} AND at = ${mark} RETURNING owner`,
            );
      return ended.length > 0;
    },

    async owners() {
      const rows = await db.all<{ owner: string; at: bigint | null; ended_at: bigint | null }>(
        sql`SELECT DISTINCT holds.owner AS owner, owners.at AS at, owners.ended_at AS ended_at
          FROM holds LEFT JOIN owners ON owners.owner = holds.owner`,
      );
      return rows.map(
        ({ owner, at, ended_at }): OwnerRow => ({
          owner,
          ...(at !== null && { at: Number(at) }),
          ...(ended_at !== null && { isEnded: true }),
        }),
      );
    },
  };
}

export function toEntry(row: EntryColumns): EntryRow {
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

function toHold(row: HoldColumns): HoldRow {
  return {
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
  };
}

export function toCode(row: CodeColumns): CodeRow {
  return {
    id: row.id,
    hash: row.hash,
    last4: row.last4,
    amount: row.amount,
    ...(row.note !== null && { note: row.note }),
    createdAt: Number(row.created_at),
    ...(row.expires_at !== null && { expiresAt: Number(row.expires_at) }),
    ...(row.redeemed_at !== null && { redeemedAt: Number(row.redeemed_at) }),
    ...(row.redeemed_by !== null && { redeemedBy: row.redeemed_by }),
  };
}
