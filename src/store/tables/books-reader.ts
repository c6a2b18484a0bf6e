/** The books as their proof reads them, within one transaction that an engine keeps open. */
import { type Database, raw, type Statement, sql, where, within } from '../database.ts';
import type { BooksReader, CallLine } from '../verify.ts';
import { type EntryColumns, toEntry } from './book-tables.ts';

interface CallColumns {
  id: string;
  account: string;
  key: string;
  at: bigint;
  cost: bigint;
  entry_seq: bigint | null;
  charged: bigint;
  completion_seq: bigint | null;
  model: string;
  input_tokens: bigint;
  output_tokens: bigint;
}

/** A call ends at most so long before its charge says, clocks and rounding included, and begins at most so long before that. */
const SLACK_MS = 86_400_000;

const sumOf = (column: string) => raw(`CAST(coalesce(sum(${column}), 0) AS BIGINT)`);
const CALL_LINES = sql`SELECT calls.id, calls.account, calls.key, calls.at, calls.cost, calls.entry_seq, calls.model,
    calls.input_tokens, calls.output_tokens, calls.completion_seq,
    - coalesce(charge.amount, 0) - coalesce(completion.amount, 0) AS charged
  FROM calls LEFT JOIN entries AS charge
    ON charge.account = calls.account AND charge.seq = calls.entry_seq AND charge.call_id = calls.id
  LEFT JOIN entries AS completion
    ON completion.account = calls.account AND completion.seq = calls.completion_seq AND completion.call_id = calls.id`;

export function booksReader(all: Database['all']): BooksReader {
  const callLines = async (rest: Statement) => (await all<CallColumns>(sql`${CALL_LINES} ${rest}`)).map(toCallLine);
  const one = async <Row>(statement: Statement) => (await all<Row>(statement))[0];
  return {
    keptFrom: async () => Number((await one<{ at: bigint }>(sql`SELECT at FROM kept_from`))?.at ?? 0n),

    async accounts() {
      const held = sql`SELECT ${sumOf('amount')} FROM holds WHERE holds.account = accounts.id`;
      const rows = await all<AccountColumns>(
        sql`SELECT id, balance, held, spent, last_seq, last_hash, (${held}) AS holds FROM accounts`,
      );
      return rows.map(({ last_seq, last_hash, ...row }) => ({
        ...row,
        lastSeq: Number(last_seq),
        lastHash: last_hash,
      }));
    },

    async entries(account, afterSeq, limit) {
      const rows = await all<EntryColumns>(
        sql`SELECT * FROM entries WHERE account = ${account} AND seq > ${afterSeq} ORDER BY seq LIMIT ${limit}`,
      );
      return rows.map(toEntry);
    },

    async callsOf(ids, from, to) {
      const near = sql`calls.at >= ${from - SLACK_MS} AND calls.at <= ${to + SLACK_MS}`;
      const found = await callLines(sql`WHERE calls.id ${within(ids)} AND ${near}`);
      if (found.length >= ids.length) return found;
      return callLines(sql`WHERE calls.id ${within(ids)}`);
    },

    calls(after, limit) {
      const beyond = after && sql`(calls.at, calls.id) > (${after.at}, ${after.id})`;
      return callLines(sql`${where([beyond])} ORDER BY calls.at, calls.id LIMIT ${limit}`);
    },

    holds: async () => Number((await one<{ n: bigint }>(sql`SELECT count(*) AS n FROM holds`))?.n ?? 0n),

    // From account to account through the index: nobody counts hundreds of millions of entries within one statement's time.
    async strangers() {
      const rows = await all<{ account: string }>(
        sql`WITH RECURSIVE named(account) AS (
            SELECT min(account) FROM entries
            UNION ALL SELECT (SELECT min(account) FROM entries WHERE entries.account > named.account) FROM named
            WHERE named.account IS NOT NULL
          )
          SELECT account FROM named WHERE account IS NOT NULL AND account NOT IN (SELECT id FROM accounts)`,
      );
      return rows.map(({ account }) => account);
    },

    async wrongHolds() {
      const ids = async (statement: Statement) => (await all<{ call_id: string }>(statement)).map((row) => row.call_id);
      return {
        ended: await ids(sql`SELECT call_id FROM holds WHERE EXISTS (SELECT 1 FROM calls WHERE calls.id = call_id)`),
        homeless: await ids(sql`SELECT call_id FROM holds WHERE account NOT IN (SELECT id FROM accounts)`),
      };
    },

    spendings: () =>
      all(sql`SELECT spendings.key AS key, held, total, coalesce(open.sum, 0) AS holds, coalesce(hours.sum, 0) AS summed
        FROM spendings
        LEFT JOIN (SELECT key, ${sumOf('amount')} AS sum FROM holds GROUP BY key) AS open ON open.key = spendings.key
        LEFT JOIN (SELECT key, ${sumOf('cost')} AS sum FROM call_sums GROUP BY key) AS hours ON hours.key = spendings.key`),

    async sums(fromHour, toHour) {
      const rows = await all<SumColumns>(sql`SELECT * FROM call_sums WHERE hour >= ${fromHour} AND hour < ${toHour}`);
      return rows.map(({ account, key, model, cost, ...row }) => ({
        account,
        key,
        model,
        cost,
        hour: Number(row.hour),
        calls: Number(row.calls),
        inputTokens: Number(row.input_tokens),
        outputTokens: Number(row.output_tokens),
      }));
    },
  };
}

interface SumColumns {
  account: string;
  hour: bigint;
  key: string;
  model: string;
  calls: bigint;
  cost: bigint;
  input_tokens: bigint;
  output_tokens: bigint;
}

interface AccountColumns {
  id: string;
  balance: bigint;
  held: bigint;
  spent: bigint;
  last_seq: bigint;
  last_hash: string;
  holds: bigint;
}

function toCallLine({ entry_seq, completion_seq, at, input_tokens, output_tokens, ...row }: CallColumns): CallLine {
  return {
    ...row,
    inputTokens: Number(input_tokens),
    outputTokens: Number(output_tokens),
    at: Number(at),
    entrySeq: entry_seq === null ? undefined : Number(entry_seq),
    completionSeq: completion_seq === null ? undefined : Number(completion_seq),
  };
}
