/**
 * Sums of whole UTC days for reports over weeks and months. They are made from the hourly sums after the day has ended. A call that is recorded
 * later marks its day, which is then read from the hourly sums again until it is summed anew.
 */

import { HOUR_MS } from '../../canonical/time.ts';
import { type Database, raw, type Statement, type Steps, sql, type Value } from '../database.ts';
import { FIGURES, SUMS_OF_SUMS } from './sum-columns.ts';

export const HOURS_PER_DAY = 24;
/** Most calls are recorded by then. */
const WAIT_HOURS = 1;
/** The maximum of days that a report by day has. Older days are read from hourly sums. */
const MOST_DAYS = 1000;

/** How the engines differ. */
export interface DayEngine {
  /** Makes a transaction wait for the batches that run: those after it see what it writes. Not needed where there is one writer at a time. */
  waitForBatches?: readonly Statement[];
  /** The rows of `table` that fulfil the condition, with the row of `named` that it names. Uses the index by account and hour. */
  rowsOfEach(table: string, condition: Statement): Statement;
}

/** Marks days as changed, within the transaction that changes their hourly sums. The condition for `day` follows. */
export const CHANGED = 'UPDATE usage_days_done SET done = 0, round = round + 1 WHERE day';

const COLUMNS = `day, account, key, model, provider, tag, ${FIGURES}`;
const COLUMN_COUNT = COLUMNS.split(', ').length;
/** Rows in one statement: SQLite takes 32,766 values. */
const ROWS_AT_ONCE = 500;

/** Sums the days that have ended and are not summed, the newest first. Resolves with their number. */
export async function sumDays(db: Database, now: number, engine: DayEngine): Promise<number> {
  const end = Math.floor((now / HOUR_MS - WAIT_HOURS) / HOURS_PER_DAY);
  const [first] = await db.all<{ hour: bigint | null }>(raw('SELECT min(hour) AS hour FROM call_sums'));
  if (!first || first.hour === null) return 0;
  const begin = Math.max(Math.floor(Number(first.hour) / HOURS_PER_DAY), end - MOST_DAYS);
  const done = new Set(await doneDays(db, begin, end));
  let summed = 0;
  for (let day = end - 1; day >= begin; day--) if (!done.has(day) && (await sumDay(db, day, engine))) summed++;
  return summed;
}

/** The days from `first` and before `end` whose sums are complete. */
export async function doneDays(db: Database, first: number, end: number): Promise<number[]> {
  const rows = await db.all<{ day: bigint }>(
    sql`SELECT day FROM usage_days_done WHERE done = 1 AND day >= ${first} AND day < ${end} ORDER BY day`,
  );
  return rows.map(({ day }) => Number(day));
}

/** Resolves with false if calls of that day were recorded meanwhile. */
async function sumDay(db: Database, day: number, { waitForBatches = [], rowsOfEach }: DayEngine): Promise<boolean> {
  const round = await db.steps(function* (): Steps<bigint> {
    for (const statement of waitForBatches) yield statement;
    const [row] = (yield sql`INSERT INTO usage_days_done AS days (day, done, round) VALUES (${day}, 0, 0)
      ON CONFLICT (day) DO UPDATE SET done = 0, round = days.round + 1 RETURNING round`) as { round: bigint }[];
    return row!.round;
  });
  const rows = await db.scan<DayRow>(sumsOfHours(day, rowsOfEach));
  return db.steps(function* (): Steps<boolean> {
    const taken =
      yield sql`UPDATE usage_days_done SET done = 1 WHERE day = ${day} AND done = 0 AND round = ${round} RETURNING day`;
    if (taken.length === 0) return false;
    yield sql`DELETE FROM usage_days WHERE day = ${day}`;
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
      yield insertRows(day, rows.slice(from, from + ROWS_AT_ONCE));
    return true;
  });
}

interface DayRow {
  [column: string]: Value;
}

const NAMES = COLUMNS.split(', ').slice(1);

function insertRows(day: number, rows: readonly DayRow[]): Statement {
  const values: Value[] = [];
  const lines: string[] = [];
  for (const row of rows) {
    const start = values.length + 1;
    values.push(day, ...NAMES.map((name) => row[name]!));
    lines.push(`(${Array.from({ length: COLUMN_COUNT }, (_, index) => `$${start + index}`).join(', ')})`);
  }
  return { text: `INSERT INTO usage_days (${COLUMNS}) VALUES ${lines.join(', ')}`, values };
}

const NEGATED = FIGURES.split(', ')
  .map((name) => `- ${name}`)
  .join(', ');
const IS_SOMETHING = FIGURES.split(', ')
  .map((name) => `sum(${name}) <> 0`)
  .join(' OR ');

/**
 * The sums by provider and tag, and under the provider '' what they lack: calls that an older program recorded. Accounts are found by steps
 * through the index: the hours of each account lie together.
 */
export function sumsOfHours(day: number, rowsOfEach: DayEngine['rowsOfEach']): Statement {
  const hours = sql`account = named.id AND hour >= ${day * HOURS_PER_DAY} AND hour < ${(day + 1) * HOURS_PER_DAY}`;
  const usage = rowsOfEach('usage_sums', hours);
  return sql`WITH RECURSIVE named(id) AS (
      SELECT min(account) FROM call_sums
      UNION ALL SELECT (SELECT min(account) FROM call_sums WHERE account > named.id) FROM named WHERE named.id IS NOT NULL
    )
    SELECT account, key, model, provider, tag, ${raw(SUMS_OF_SUMS)} FROM (
      SELECT account, key, model, provider, tag, ${raw(FIGURES)} FROM ${usage}
      UNION ALL SELECT account, key, model, '', '', ${raw(FIGURES)} FROM ${rowsOfEach('call_sums', hours)}
      UNION ALL SELECT account, key, model, '', '', ${raw(NEGATED)} FROM ${usage} WHERE tag = ''
    ) AS parts GROUP BY 1, 2, 3, 4, 5 HAVING ${raw(IS_SOMETHING)}`;
}
