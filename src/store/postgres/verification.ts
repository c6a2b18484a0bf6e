/** Verifies the ledger of a Postgres database over connections of its own, while calls continue. */
import { raw, type Statement, sql } from '../database.ts';
import { booksReader } from '../tables/books-reader.ts';
import { verifyBooks } from '../verify/books.ts';
import type { BooksReader, VerifyOptions } from '../verify/books-reader.ts';
import type { VerifyReport } from '../verify/report.ts';
import { openConnection } from './connection.ts';
import { rowsOfEach } from './partitions.ts';

/** Accounts and hours are read in parallel. */
const CONNECTIONS = 2;

export async function verifyPostgres(url: string, options: VerifyOptions): Promise<VerifyReport> {
  const db = openConnection({ url, connections: CONNECTIONS, reads: 'much' });
  try {
    return await verifyBooks(booksReader(db.all, { isDoubtful: chainReader(db.all), rowsOfEach }), options);
  } finally {
    await db.close();
  }
}

type All = <Row>(statement: Statement) => Promise<Row[]>;

/** The same members as in `entryHash`, without the previous hash. */
const MEMBERS =
  raw(`to_json(account)::text || ',' || seq || ',' || to_json(kind)::text || ',"' || amount || '","' || balance_after
  || '",' || to_json(counter)::text || ',' || coalesce(to_json(call_id)::text, 'null') || ',' || coalesce(to_json(note)::text, 'null')
  || ',' || coalesce(to_json(idempotency_key)::text, 'null') || ',' || at`);

/**
 * The server computes the hashes, so five million rows need not be sent. If the text differs from that of `entryHash`, or anything else is
 * wrong, the entries are checked one by one.
 */
function chainReader(all: All): BooksReader['isDoubtful'] {
  return async ({ account, after, to }, before) => {
    const [row] = await all<{ doubtful: boolean }>(sql`SELECT EXISTS (
      SELECT 1 FROM (
        SELECT hash, seq, amount, balance_after,
          lag(seq, 1, CAST(${after} AS BIGINT)) OVER w AS seq_before,
          lag(balance_after, 1, CAST(${before.balance} AS BIGINT)) OVER w AS balance_before,
          '["' || lag(hash, 1, CAST(${before.hash} AS TEXT)) OVER w || '",' || ${MEMBERS} || ']' AS members
        FROM entries WHERE account = ${account} AND seq > ${after} AND seq <= ${to} WINDOW w AS (ORDER BY seq)
      ) AS links
      WHERE seq <> seq_before + 1 OR balance_after <> balance_before + amount
        OR hash <> pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(members, 'UTF8')), 'hex')
    ) AS doubtful`);
    return row?.doubtful !== false;
  };
}
