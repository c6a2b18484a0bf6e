/** Cached replies. */
import { type Database, insertInto, sql } from '../database.ts';
import { type CachedReplyRow, type ReplyCacheStore, sizeOfReply } from '../reply-cache.ts';

/** The maximum that one statement removes: more would block the event loop. */
const REMOVED_AT_ONCE = 200;

interface CachedReplyColumns {
  account: string;
  hash: string;
  at: bigint;
  expires_at: bigint;
  body: string;
}

export function replyCacheTable(db: Database): ReplyCacheStore {
  return {
    async find(account, hash, now) {
      const [row] = await db.all<CachedReplyColumns>(
        sql`SELECT account, hash, at, expires_at, body FROM cached_replies
          WHERE account = ${account} AND hash = ${hash} AND expires_at > ${now}`,
      );
      return row && toReply(row);
    },

    async put({ account, hash, at, expiresAt, body }) {
      const columns = { account, hash, at, expires_at: expiresAt, bytes: sizeOfReply(body), body };
      await db.all(
        sql`${insertInto('cached_replies', columns)} ON CONFLICT (account, hash) DO UPDATE SET
          at = excluded.at, expires_at = excluded.expires_at, bytes = excluded.bytes, body = excluded.body`,
      );
    },

    async trim(account, mostBytes) {
      const gone = await db.all(
        sql`DELETE FROM cached_replies WHERE account = ${account} AND hash IN (
            SELECT hash FROM (
              SELECT hash, at, sum(bytes) OVER (ORDER BY at DESC, hash) AS newer FROM cached_replies WHERE account = ${account}
            ) AS sized WHERE newer > ${mostBytes} ORDER BY at LIMIT ${REMOVED_AT_ONCE})
          RETURNING hash`,
      );
      return gone.length === REMOVED_AT_ONCE;
    },

    async sweep(now) {
      const gone = await db.all(
        sql`DELETE FROM cached_replies WHERE (account, hash) IN (
            SELECT account, hash FROM cached_replies WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${REMOVED_AT_ONCE})
          RETURNING hash`,
      );
      return gone.length === REMOVED_AT_ONCE;
    },
  };
}

function toReply({ account, hash, at, expires_at, body }: CachedReplyColumns): CachedReplyRow {
  return { account, hash, at: Number(at), expiresAt: Number(expires_at), body };
}
