/** Stored responses and reasoning signatures. */
import { type Database, insertInto, type Statement, sql, within } from '../database.ts';
import type { KeptStore, NewResponseRow, ResponseRow, SignatureRow } from '../kept.ts';
import { replyCacheTable } from './reply-cache-table.ts';

/** A continued response is kept for a day longer than those that continue it, so that a chain's rows are updated at most once a day. */
const LINK_SLACK_MS = 86_400_000;
/** The maximum that one sweep removes per table: more would block the event loop. */
const SWEPT_AT_ONCE = 200;

interface ResponseColumns {
  account: string;
  id: string;
  previous: string | null;
  at: bigint;
  expires_at: bigint;
  maker: string | null;
  input: string;
  output: string;
  reply: string;
}

interface SignatureColumns {
  account: string;
  key: string;
  expires_at: bigint;
  body: string;
}

export function keptTables(db: Database): KeptStore {
  const responses = async (statement: Statement) => (await db.all<ResponseColumns>(statement)).map(toResponse);
  return {
    replies: replyCacheTable(db),
    async keep(kept, signatures) {
      const statements = [...kept.flatMap(insertResponse), ...signatures.map(saveSignature)];
      if (statements.length > 0) await db.together(statements);
    },
    response: async (account, id, now) =>
      (
        await responses(sql`SELECT * FROM responses WHERE account = ${account} AND id = ${id} AND expires_at > ${now}`)
      )[0],
    responseChain: (account, id, now) => responses(chainOf(account, id, now)),
    responsesWith: (account, items, now) =>
      responses(
        sql`SELECT * FROM responses WHERE account = ${account} AND expires_at > ${now} AND id IN (
          SELECT response FROM response_items WHERE account = ${account} AND item ${within(items)})`,
      ),
    async forgetResponse(account, id, now) {
      const [found] = await db.together(forget(account, id, now));
      return found !== undefined && found.length > 0;
    },
    async signatures(account, keys, now) {
      const rows = await db.all<SignatureColumns>(
        sql`SELECT * FROM proofs WHERE account = ${account} AND key ${within(keys)} AND expires_at > ${now}`,
      );
      return rows.map(({ expires_at, key, body }) => ({ account, key, expiresAt: Number(expires_at), body }));
    },
    sweepKept: (now, mostSignatures) => sweep(db, now, mostSignatures),
  };
}

function toResponse(row: ResponseColumns): ResponseRow {
  return {
    id: row.id,
    account: row.account,
    ...(row.previous !== null && { previous: row.previous }),
    at: Number(row.at),
    expiresAt: Number(row.expires_at),
    ...(row.maker !== null && { owner: row.maker }),
    input: row.input,
    output: row.output,
    reply: row.reply,
  };
}

function insertResponse(row: NewResponseRow): Statement[] {
  const { account, id, previous, at, expiresAt, owner, input, output, reply } = row;
  const keptUntil = expiresAt + LINK_SLACK_MS;
  const columns = {
    account,
    id,
    previous,
    at,
    expires_at: expiresAt,
    kept_until: keptUntil,
    maker: owner,
    input,
    output,
    reply,
  };
  const items = row.items.map(
    (item) => sql`${insertInto('response_items', { account, item, response: id })}
      ON CONFLICT (account, item) DO UPDATE SET response = excluded.response`,
  );
  return [
    insertInto('responses', columns),
    ...(previous === undefined ? [] : [keepLinks(account, previous, expiresAt, keptUntil)]),
    ...items,
  ];
}

/** A continued response is kept as long as the one that continues it. */
function keepLinks(account: string, previous: string, expiresAt: number, keptUntil: number): Statement {
  return sql`WITH RECURSIVE chain (id, link) AS (
      SELECT id, previous FROM responses WHERE account = ${account} AND id = ${previous}
      UNION SELECT responses.id, responses.previous FROM responses JOIN chain
        ON responses.account = ${account} AND responses.id = chain.link)
    UPDATE responses SET kept_until = ${keptUntil}
    WHERE account = ${account} AND kept_until < ${expiresAt} AND id IN (SELECT id FROM chain)`;
}

function chainOf(account: string, id: string, now: number): Statement {
  return sql`WITH RECURSIVE chain (id, link, depth) AS (
      SELECT id, previous, 0 FROM responses WHERE account = ${account} AND id = ${id} AND expires_at > ${now}
      UNION ALL SELECT responses.id, responses.previous, depth + 1 FROM responses JOIN chain
        ON responses.account = ${account} AND responses.id = chain.link)
    SELECT responses.* FROM responses JOIN chain ON responses.account = ${account} AND responses.id = chain.id
    ORDER BY depth DESC`;
}

/** A response that others continue is kept as a link until they are gone. */
function forget(account: string, id: string, now: number): Statement[] {
  return [
    sql`UPDATE responses SET expires_at = ${now} WHERE account = ${account} AND id = ${id} AND expires_at > ${now} RETURNING id`,
    sql`DELETE FROM response_items WHERE account = ${account} AND response = ${id}`,
    sql`DELETE FROM responses WHERE account = ${account} AND id = ${id}
      AND NOT EXISTS (SELECT 1 FROM responses AS later WHERE later.account = ${account} AND later.previous = ${id})`,
  ];
}

function saveSignature({ account, key, expiresAt, body }: SignatureRow): Statement {
  return sql`${insertInto('proofs', { account, key, expires_at: expiresAt, body })}
    ON CONFLICT (account, key) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body`;
}

async function sweep(db: Database, now: number, mostSignatures: number): Promise<boolean> {
  const gone = await db.all<{ account: string; id: string }>(
    sql`SELECT account, id FROM responses WHERE kept_until <= ${now}
      UNION SELECT account, id FROM responses WHERE expires_at <= ${now} AND NOT EXISTS (
        SELECT 1 FROM responses AS later WHERE later.account = responses.account AND later.previous = responses.id)
      LIMIT ${SWEPT_AT_ONCE}`,
  );
  const removals = gone.flatMap(({ account, id }) => [
    sql`DELETE FROM response_items WHERE account = ${account} AND response = ${id}`,
    sql`DELETE FROM responses WHERE account = ${account} AND id = ${id}`,
  ]);
  if (removals.length > 0) await db.together(removals);
  const [oldest] = await db.all<{ expires_at: bigint }>(
    sql`SELECT expires_at FROM proofs ORDER BY expires_at DESC LIMIT 1 OFFSET ${mostSignatures}`,
  );
  const bound = Math.max(now, Number(oldest?.expires_at ?? 0n));
  const signatures = await db.all(
    sql`DELETE FROM proofs WHERE (account, key) IN (
        SELECT account, key FROM proofs WHERE expires_at <= ${bound} ORDER BY expires_at LIMIT ${SWEPT_AT_ONCE})
      RETURNING key`,
  );
  return gone.length === SWEPT_AT_ONCE || signatures.length === SWEPT_AT_ONCE;
}
