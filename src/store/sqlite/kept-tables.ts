/** Kept responses and proofs in SQLite. */
import type { Database } from 'bun:sqlite';
import type { KeptStore, NewResponseRow, ProofRow, ResponseRow } from '../kept.ts';

/** A response is there as a link for a day longer than anything that goes on from it: so a chain's rows are touched once a day. */
const LINK_SLACK_MS = 86_400_000;
/** What one sweep removes of each: more would hold up the event loop. */
const SWEPT_AT_ONCE = 200;

type Transact = <T>(work: () => T) => T;

export function keptTables(db: Database, transact: Transact): KeptStore {
  return {
    async keep(responses, proofs) {
      transact(() => {
        for (const response of responses) insertResponse(db, response);
        for (const proof of proofs) saveProof(db, proof);
      });
    },
    response: async (account, id, now) => readResponse(db, account, id, now),
    responseChain: async (account, id, now) => readChain(db, account, id, now),
    responsesWith: async (account, items, now) => readResponsesWith(db, account, items, now),
    forgetResponse: async (account, id, now) => transact(() => forget(db, account, id, now)),
    proofs: async (account, keys, now) => readProofs(db, account, keys, now),
    sweepKept: async (now, mostProofs) => transact(() => sweep(db, now, mostProofs)),
  };
}

interface ResponseColumns {
  account: string;
  id: string;
  previous: string | null;
  at: number;
  expires_at: number;
  maker: string | null;
  input: string;
  output: string;
  reply: string;
}

function toResponse(row: ResponseColumns): ResponseRow {
  return {
    id: row.id,
    account: row.account,
    ...(row.previous !== null && { previous: row.previous }),
    at: row.at,
    expiresAt: row.expires_at,
    ...(row.maker !== null && { maker: row.maker }),
    input: row.input,
    output: row.output,
    reply: row.reply,
  };
}

function insertResponse(db: Database, row: NewResponseRow): void {
  const { account, id, previous = null, at, expiresAt, maker = null, input, output, reply } = row;
  db.query(
    `INSERT INTO responses (account, id, previous, at, expires_at, kept_until, maker, input, output, reply)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(account, id, previous, at, expiresAt, expiresAt + LINK_SLACK_MS, maker, input, output, reply);
  if (previous !== null) {
    db.query(
      `WITH RECURSIVE chain (id) AS (
         SELECT ?2
         UNION SELECT responses.previous FROM responses JOIN chain ON responses.account = ?1 AND responses.id = chain.id
           WHERE responses.previous IS NOT NULL)
       UPDATE responses SET kept_until = ?4 WHERE account = ?1 AND kept_until < ?3 AND id IN (SELECT id FROM chain)`,
    ).run(account, previous, expiresAt, expiresAt + LINK_SLACK_MS);
  }
  const insertItem = db.query(
    `INSERT INTO response_items (account, item, response) VALUES (?, ?, ?)
     ON CONFLICT (account, item) DO UPDATE SET response = excluded.response`,
  );
  for (const item of row.items) insertItem.run(account, item, id);
}

function readResponse(db: Database, account: string, id: string, now: number): ResponseRow | undefined {
  const row = db
    .query<ResponseColumns, [string, string, number]>(
      'SELECT * FROM responses WHERE account = ? AND id = ? AND expires_at > ?',
    )
    .get(account, id, now);
  return row ? toResponse(row) : undefined;
}

function readChain(db: Database, account: string, id: string, now: number): ResponseRow[] {
  return db
    .query<ResponseColumns, [string, string, number]>(
      `WITH RECURSIVE chain (id, depth) AS (
         SELECT id, 0 FROM responses WHERE account = ?1 AND id = ?2 AND expires_at > ?3
         UNION ALL SELECT responses.previous, depth + 1 FROM responses JOIN chain
           ON responses.account = ?1 AND responses.id = chain.id WHERE responses.previous IS NOT NULL)
       SELECT responses.* FROM responses JOIN chain ON responses.account = ?1 AND responses.id = chain.id
       ORDER BY depth DESC`,
    )
    .all(account, id, now)
    .map(toResponse);
}

function readResponsesWith(db: Database, account: string, items: readonly string[], now: number): ResponseRow[] {
  return db
    .query<ResponseColumns, [string, string, number]>(
      `SELECT * FROM responses WHERE account = ?1 AND expires_at > ?3 AND id IN (
         SELECT response FROM response_items WHERE account = ?1 AND item IN (SELECT value FROM json_each(?2)))`,
    )
    .all(account, JSON.stringify(items), now)
    .map(toResponse);
}

/** A response that others go on from stays as a link until they are gone. */
function forget(db: Database, account: string, id: string, now: number): boolean {
  const found = db
    .query('UPDATE responses SET expires_at = ?3 WHERE account = ?1 AND id = ?2 AND expires_at > ?3')
    .run(account, id, now);
  if (found.changes === 0) return false;
  db.query('DELETE FROM response_items WHERE account = ? AND response = ?').run(account, id);
  db.query(
    `DELETE FROM responses WHERE account = ?1 AND id = ?2
       AND NOT EXISTS (SELECT 1 FROM responses AS later WHERE later.account = ?1 AND later.previous = ?2)`,
  ).run(account, id);
  return true;
}

function saveProof(db: Database, { account, key, expiresAt, body }: ProofRow): void {
  db.query(
    `INSERT INTO proofs (account, key, expires_at, body) VALUES (?, ?, ?, ?)
     ON CONFLICT (account, key) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`,
  ).run(account, key, expiresAt, body);
}

function readProofs(db: Database, account: string, keys: readonly string[], now: number): ProofRow[] {
  return db
    .query<ProofRow, [string, string, number]>(
      `SELECT account, key, expires_at AS expiresAt, body FROM proofs
       WHERE account = ?1 AND key IN (SELECT value FROM json_each(?2)) AND expires_at > ?3`,
    )
    .all(account, JSON.stringify(keys), now);
}

function sweep(db: Database, now: number, mostProofs: number): boolean {
  const gone = db
    .query<{ account: string; id: string }, [number, number]>(
      `SELECT account, id FROM responses WHERE kept_until <= ?1
       UNION SELECT account, id FROM responses WHERE expires_at <= ?1 AND NOT EXISTS (
         SELECT 1 FROM responses AS later WHERE later.account = responses.account AND later.previous = responses.id)
       LIMIT ?2`,
    )
    .all(now, SWEPT_AT_ONCE);
  for (const { account, id } of gone) {
    db.query('DELETE FROM response_items WHERE account = ? AND response = ?').run(account, id);
    db.query('DELETE FROM responses WHERE account = ? AND id = ?').run(account, id);
  }
  const oldest = db
    .query<{ expiresAt: number }, [number]>(
      'SELECT expires_at AS expiresAt FROM proofs ORDER BY expires_at DESC LIMIT 1 OFFSET ?',
    )
    .get(mostProofs);
  const proofs = db
    .query(
      `DELETE FROM proofs WHERE (account, key) IN (
         SELECT account, key FROM proofs WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
    )
    .run(Math.max(now, oldest?.expiresAt ?? 0), SWEPT_AT_ONCE);
  return gone.length === SWEPT_AT_ONCE || proofs.changes === SWEPT_AT_ONCE;
}
