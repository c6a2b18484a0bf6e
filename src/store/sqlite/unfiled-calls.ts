/**
 * Calls wait in a table without indexes, each with its charge, and are written to `calls`, `entries` and the sums later, many at once: a page
 * of these tables is then written once for many batches. Balances, spending and holds are always current.
 */
import type { Database } from 'bun:sqlite';
import type { LedgerChanges } from '../ledger/ledger-rules.ts';
import { ADDED, FIGURES, SUMS_OF_CALLS } from '../sums/sum-columns.ts';
import { CHANGED, HOURS_PER_DAY } from '../sums/usage-days.ts';
import { CALL_COLUMNS, callValues, type RunsWithArray } from './call-values.ts';
import { prepareKeyDay, prepareUnfiledOverview } from './overview-rows.ts';

/** Leaves the calls of a batch unfiled, each with its charge. */
export function prepareUnfiled(db: Database): (changes: LedgerChanges) => void {
  const insert = db.prepare(
    `INSERT INTO unfiled_calls (${CALL_COLUMNS}, tags, charge, balance_after, charged_at, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ) as unknown as RunsWithArray;
  return ({ calls, entries }) => {
    // Charges are in the order of their calls.
    const charges = entries.filter(({ kind }) => kind === 'charge').values();
    for (const call of calls) {
      const values = callValues(call);
      values.push(call.row.tags ? JSON.stringify(call.row.tags) : null);
      if (call.entrySeq === undefined) values.push(null, null, null, null);
      else {
        const { value: charge } = charges.next();
        if (charge?.callId !== call.row.id)
          throw new Error(`The charge of call ${call.row.id} is missing in its batch.`);
        values.push(charge.amount, charge.balanceAfter, charge.at, charge.hash);
      }
      insert.run(values);
    }
  };
}

/** The figures as parameters after those of the key. */
const FIGURES_FROM_6 = FIGURES.split(', ')
  .map((_, index) => `?${index + 6}`)
  .join(', ');

/** Account, hour, key, model, provider, and the first figures of a sum. */
type SumValues = [string, bigint, string, string, string, bigint, bigint, bigint, bigint];

/** Files the oldest calls, at most `limit`, within the caller's transaction. Returns whether there may be more. */
export function prepareFiling(db: Database): (limit: number) => boolean {
  const oldest = db.query<{ last: number | null; calls: number }, [number]>(
    'SELECT max(seq) AS last, count(*) AS calls FROM (SELECT seq FROM unfiled_calls ORDER BY seq LIMIT ?)',
  );
  // A call that is recorded twice is a fault, which verification finds. It must not stop the calls after it.
  const record = db.query(
    `INSERT INTO calls (${CALL_COLUMNS}) SELECT ${CALL_COLUMNS} FROM unfiled_calls WHERE seq <= ? ORDER BY seq
     ON CONFLICT DO NOTHING`,
  );
  const enter = db.query(
    `INSERT INTO entries (account, seq, kind, amount, balance_after, counter, call_id, at, hash)
     SELECT account, entry_seq, 'charge', charge, balance_after, 'revenue', id, charged_at, hash
     FROM unfiled_calls WHERE seq <= ? AND hash IS NOT NULL ORDER BY seq`,
  );
  // Grouped once for both tables: sorting the calls takes longer than the few rows that come of it.
  const groups = db
    .query<bigint[], [number]>(
      `SELECT count(tags), account, at / 3600000, key, model, provider, ${SUMS_OF_CALLS} FROM unfiled_calls AS calls
       WHERE seq <= ? GROUP BY account, at / 3600000, key, model, provider`,
    )
    .safeIntegers(true);
  const add = db.query(
    `INSERT INTO call_sums AS sums (account, hour, key, model, ${FIGURES})
     VALUES (?1, ?2, ?3, ?4, ${FIGURES_FROM_6}) ON CONFLICT DO UPDATE SET ${ADDED}`,
  );
  const addParts = db.query(
    `INSERT INTO usage_sums AS sums (account, hour, key, model, provider, tag, ${FIGURES})
     VALUES (?1, ?2, ?3, ?4, ?5, '', ${FIGURES_FROM_6}) ON CONFLICT DO UPDATE SET ${ADDED}`,
  );
  const addTags = db.query(
    `INSERT INTO usage_sums AS sums (account, hour, key, model, provider, tag, ${FIGURES})
     SELECT account, at / 3600000, calls.key, model, provider, tags.value, ${SUMS_OF_CALLS}
     FROM unfiled_calls AS calls, json_each(calls.tags) AS tags WHERE seq <= ? AND calls.tags IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6
     ON CONFLICT DO UPDATE SET ${ADDED}`,
  );
  const addKeyDay = prepareKeyDay(db);
  const changeDay = db.query(`${CHANGED} = ?`);
  const addOverview = prepareUnfiledOverview(db);
  const tag = db.query(
    `INSERT INTO call_tags (tag, at, id) SELECT tags.value, unfiled_calls.at, unfiled_calls.id
     FROM unfiled_calls, json_each(unfiled_calls.tags) AS tags WHERE seq <= ? AND tags IS NOT NULL ON CONFLICT DO NOTHING`,
  );
  const remove = db.query('DELETE FROM unfiled_calls WHERE seq <= ?');
  return (limit) => {
    const { last = null, calls = 0 } = oldest.get(limit) ?? {};
    if (last === null) return false;
    record.run(last);
    enter.run(last);
    let areTagged = false;
    let changedDay: number | undefined;
    for (const [tagged, ...sums] of groups.values(last)) {
      areTagged ||= tagged !== 0n;
      add.run(...sums);
      addParts.run(...sums);
      const [account, hour, key, , , calls, cost, input, output] = sums as unknown as SumValues;
      addKeyDay(account, Number(hour), key, calls, cost, input + output);
      const day = Math.floor(Number(hour) / HOURS_PER_DAY);
      if (day !== changedDay) changeDay.run(day);
      changedDay = day;
    }
    addOverview(last);
    if (areTagged) {
      addTags.run(last);
      tag.run(last);
    }
    remove.run(last);
    return calls === limit;
  };
}

/** Files all calls in small transactions. For a thread: it pauses in between, so that others get the lock. Throws if it does not get it. */
export function filingInParts(db: Database): () => void {
  // Prepared once, and not before the tables are there.
  let fileSome: ReturnType<typeof prepareFiling> | undefined;
  return () => {
    // The transaction begins only if there is something to file: every one takes the lock.
    const some = db.query('SELECT 1 FROM unfiled_calls LIMIT 1');
    while (some.get() !== null) {
      db.query('BEGIN IMMEDIATE').run();
      try {
        fileSome ??= prepareFiling(db);
        fileSome(PART);
        db.query('COMMIT').run();
      } finally {
        if (db.inTransaction) db.query('ROLLBACK').run();
      }
      Bun.sleepSync(PAUSE_MS);
    }
  };
}

/** A transaction of this number takes about two milliseconds. */
const PART = 200;
const PAUSE_MS = 1;
