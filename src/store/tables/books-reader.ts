/** How verification reads the ledger: each statement sees one snapshot and a bounded number of rows. */
import { type Database, raw, type Statement, sql, within } from '../database.ts';
import { between, sumsReader } from '../sums/sums-reader.ts';
import type { DayEngine } from '../sums/usage-days.ts';
import type { AccountLine, BooksReader, CallLine, EntryRange, HoldLine } from '../verify/books-reader.ts';
import { type EntryColumns, toEntry } from './book-tables.ts';

/**
 * The maximum distance between a call's end and its charge, including clock differences and rounding; also the maximum duration of a call.
 */
const SLACK_MS = 86_400_000;

const sumOf = (column: string) => raw(`CAST(coalesce(sum(${column}), 0) AS BIGINT)`);
const CHARGED = raw('(- coalesce(charge.amount, 0) - coalesce(completion.amount, 0))');
const CALL_LINES = sql`SELECT calls.id, calls.account, calls.cost, calls.entry_seq, calls.completion_seq, ${CHARGED} AS charged
  FROM calls LEFT JOIN entries AS charge
    ON charge.account = calls.account AND charge.seq = calls.entry_seq AND charge.call_id = calls.id
  LEFT JOIN entries AS completion
    ON completion.account = calls.account AND completion.seq = calls.completion_seq AND completion.call_id = calls.id`;

const inRange = ({ account, after, to }: EntryRange) => sql`account = ${account} AND seq > ${after} AND seq <= ${to}`;

/** Most calls are short; the few others are checked one by one. */
const NEAR = raw('calls.at >= e.at - 3600000 AND calls.at <= e.at + 60000');

/** A subquery of one row, so that no plan reads all calls for a join. */
const HAS_ITS_CALL = sql`coalesce((SELECT 1 FROM calls WHERE calls.id = e.call_id AND ${NEAR} AND calls.account = e.account
  AND calls.entry_seq = e.seq AND calls.completion_seq IS NULL AND calls.cost = - e.amount LIMIT 1), 0) = 1`;

/** What each engine does in its own way: only one of them can compute hashes. */
type EngineReads = Pick<BooksReader, 'isDoubtful'> & Pick<DayEngine, 'rowsOfEach'>;

export function booksReader(all: Database['all'], { isDoubtful, rowsOfEach }: EngineReads): BooksReader {
  const one = async <Row>(statement: Statement) => (await all<Row>(statement))[0];
  const entryRows = async (statement: Statement) => (await all<EntryColumns>(statement)).map(toEntry);
  const callLines = async (rest: Statement) => (await all<BookCallColumns>(sql`${CALL_LINES} ${rest}`)).map(toCallLine);
  return {
    isDoubtful,
    keptFrom: async () => Number((await one<{ at: bigint }>(sql`SELECT at FROM kept_from`))?.at ?? 0n),

    async accounts(after = '', limit) {
      const rows = await all<BookAccountColumns>(
        sql`SELECT accounts.id, balance, held, spent, last_seq, last_hash, newest.hash, newest.balance_after,
            (SELECT ${sumOf('amount')} FROM holds WHERE holds.account = accounts.id) AS holds,
            coalesce((SELECT max(seq) FROM entries WHERE entries.account = accounts.id), 0) AS newest_seq
          FROM accounts LEFT JOIN entries AS newest ON newest.account = accounts.id AND newest.seq = accounts.last_seq
          WHERE accounts.id > ${after} ORDER BY accounts.id LIMIT ${limit}`,
      );
      return rows.map(toAccountLine);
    },

    entries: (account, afterSeq, limit) =>
      entryRows(
        sql`SELECT * FROM entries WHERE account = ${account} AND seq > ${afterSeq} ORDER BY seq LIMIT ${limit}`,
      ),

    async sums(range) {
      const rows = await all<{ kind: EntryColumns['kind']; counter: string; entries: bigint; amount: bigint }>(
        sql`SELECT kind, counter, count(*) AS entries, ${sumOf('amount')} AS amount FROM entries WHERE ${inRange(range)}
          GROUP BY kind, counter`,
      );
      return rows.map(({ entries, ...row }) => ({ ...row, entries: Number(entries) }));
    },

    doubtfulCharges: (range, since) =>
      entryRows(
        sql`SELECT * FROM entries AS e WHERE ${inRange(range)} AND kind IN ('charge', 'completion') AND at >= ${since}
          AND NOT (${HAS_ITS_CALL}) ORDER BY seq`,
      ),

    async callsOf(ids, from, to) {
      const near = sql`calls.at >= ${from - SLACK_MS} AND calls.at <= ${to + SLACK_MS}`;
      const found = await callLines(sql`WHERE calls.id ${within(ids)} AND ${near}`);
      if (found.length >= ids.length) return found;
      return callLines(sql`WHERE calls.id ${within(ids)}`);
    },

    async hourTotals() {
      const rows = await all<HourColumns>(
        sql`SELECT hour, ${sumOf('calls')} AS calls, ${sumOf('cost')} AS cost, ${sumOf('input_tokens')} AS input_tokens,
            ${sumOf('output_tokens')} AS output_tokens FROM call_sums GROUP BY hour ORDER BY hour`,
      );
      return rows.map(({ hour, calls, cost, input_tokens, output_tokens }) => ({
        hour: Number(hour),
        calls: Number(calls),
        cost,
        inputTokens: Number(input_tokens),
        outputTokens: Number(output_tokens),
      }));
    },

    ...sumsReader(all, rowsOfEach),

    wrongCalls: (fromHour, toHour) =>
      callLines(
        sql`WHERE ${between(fromHour, toHour)} AND calls.cost <> ${CHARGED} ORDER BY calls.at, calls.id LIMIT 1000`,
      ),

    holds: async () => Number((await one<{ n: bigint }>(sql`SELECT count(*) AS n FROM holds`))?.n ?? 0n),

    // Steps from account to account through the index: counting hundreds of millions of entries would exceed the time limit.
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
      const lines = (condition: Statement) =>
        all<HoldLine>(sql`SELECT call_id AS "callId", account FROM holds WHERE ${condition}`);
      return {
        ended: await lines(sql`coalesce((SELECT 1 FROM calls WHERE calls.id = call_id LIMIT 1), 0) = 1`),
        homeless: await lines(sql`account NOT IN (SELECT id FROM accounts)`),
      };
    },

    wrongSpendings: () =>
      all(sql`SELECT lines.*, coalesce((SELECT account FROM keys WHERE keys.id = lines.key),
          (SELECT account FROM call_sums WHERE call_sums.key = lines.key LIMIT 1),
          (SELECT account FROM holds WHERE holds.key = lines.key LIMIT 1)) AS account
        FROM (
          SELECT spendings.key AS key, held, total, coalesce(open.sum, 0) AS holds, coalesce(hours.sum, 0) AS summed
          FROM spendings
          LEFT JOIN (SELECT key, ${sumOf('amount')} AS sum FROM holds GROUP BY key) AS open ON open.key = spendings.key
          LEFT JOIN (SELECT key, ${sumOf('cost')} AS sum FROM call_sums GROUP BY key) AS hours ON hours.key = spendings.key
        ) AS lines WHERE held <> holds OR total <> summed ORDER BY key`),
  };
}

interface BookAccountColumns {
  id: string;
  balance: bigint;
  held: bigint;
  spent: bigint;
  last_seq: bigint;
  last_hash: string;
  hash: string | null;
  balance_after: bigint | null;
  holds: bigint;
  newest_seq: bigint;
}

interface BookCallColumns {
  id: string;
  account: string;
  cost: bigint;
  entry_seq: bigint | null;
  completion_seq: bigint | null;
  charged: bigint;
}

interface HourColumns {
  hour: bigint;
  calls: bigint;
  cost: bigint;
  input_tokens: bigint;
  output_tokens: bigint;
}

function toAccountLine(row: BookAccountColumns): AccountLine {
  const { last_seq, last_hash, newest_seq, hash, balance_after: balanceAfter, ...line } = row;
  return {
    ...line,
    lastSeq: Number(last_seq),
    lastHash: last_hash,
    newestSeq: Number(newest_seq),
    newest: hash === null || balanceAfter === null ? undefined : { hash, balanceAfter },
  };
}

function toCallLine({ entry_seq, completion_seq, ...row }: BookCallColumns): CallLine {
  return {
    ...row,
    entrySeq: entry_seq === null ? undefined : Number(entry_seq),
    completionSeq: completion_seq === null ? undefined : Number(completion_seq),
  };
}
