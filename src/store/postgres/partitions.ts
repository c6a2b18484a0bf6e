/** Calls are stored in one partition per day, created in advance. Old calls are removed by dropping whole days. */

import { DAY_MS } from '../../canonical/time.ts';
import { raw, type Statement, sql } from '../database.ts';
import { OVERVIEW_ADDED, OVERVIEW_COLUMNS, OVERVIEW_TOTALS } from '../sums/overview-columns.ts';
import { mergesAt } from '../sums/overview-slots.ts';
import { sumDays } from '../sums/usage-days.ts';
import { forgetRefused } from '../tables/refused-call-table.ts';
import type { PostgresConnection, RunStatement } from './connection.ts';

/** Today and the next days: an idle weekend needs no new partition. */
const DAYS_AHEAD = 4;
const PARTITION_LOCK = 7_305_164_321;

const dayOf = (at: number) => Math.floor(at / DAY_MS);

function nameOf(day: number): string {
  return `calls_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

export async function tidyCalls(db: PostgresConnection, now: number, keepFrom: number | undefined): Promise<void> {
  const { transact } = db;
  const today = dayOf(now);
  // Each in its own transaction, because creating a partition briefly locks the whole table.
  for (let day = today; day < today + DAYS_AHEAD; day++) {
    await transact((run) => makePartition(run, day));
  }
  await transact((run) => run(forgetRefused(now)));
  for (const [size, before] of mergesAt(now)) await transact((run) => run(mergeSlots(size, before)));
  if (keepFrom !== undefined) await transact((run) => dropPartitions(run, keepFrom));
  await sumDays(db, now, { waitForBatches: WAIT_FOR_BATCHES, rowsOfEach });
}

/** Each batch of the ledger writes to this table, if only to no row. */
const WAIT_FOR_BATCHES = [
  raw(`SET LOCAL lock_timeout = '1s'`),
  raw('LOCK TABLE usage_days_done IN SHARE ROW EXCLUSIVE MODE'),
];

export const rowsOfEach = (table: string, condition: Statement): Statement =>
  sql`named CROSS JOIN LATERAL (SELECT * FROM ${raw(table)} WHERE ${condition} OFFSET 0) AS found`;

/** Locked rows are left for the next time: a batch must not wait for this, nor this for a batch. */
function mergeSlots(size: number, before: number): Statement {
  return sql`WITH old AS MATERIALIZED (
      SELECT slot, writer, model FROM overview_sums WHERE slot < ${before} AND (writer <> '' OR slot % ${size} <> 0) FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM overview_sums AS sums USING old
      WHERE sums.slot = old.slot AND sums.writer = old.writer AND sums.model = old.model RETURNING sums.*
    ) INSERT INTO overview_sums AS sums (${raw(OVERVIEW_COLUMNS)})
    SELECT slot - slot % ${size}, '', model, ${raw(OVERVIEW_TOTALS)} FROM gone GROUP BY 1, 2, 3
    ON CONFLICT (slot, writer, model) DO UPDATE SET ${raw(OVERVIEW_ADDED)}`;
}

/** If calls were stored before their partition existed, the calls of that day stay in the default partition. */
export async function makePartition(run: RunStatement, day: number): Promise<void> {
  await run(sql`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`);
  const name = nameOf(day);
  const made = await run(sql`SELECT 1 FROM pg_class WHERE relname = ${name} AND relkind = 'r'`);
  if (made.length > 0) return;
  const [from, to] = [day * DAY_MS, (day + 1) * DAY_MS];
  const early = await run(sql`SELECT 1 FROM calls_of_other_days WHERE at >= ${from} AND at < ${to} LIMIT 1`);
  if (early.length > 0) return;
  await run(raw(`SET LOCAL lock_timeout = '2s'`));
  await run(raw(`CREATE TABLE ${name} PARTITION OF calls FOR VALUES FROM (${from}) TO (${to})`));
}

async function dropPartitions(run: RunStatement, keepFrom: number): Promise<void> {
  await run(sql`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`);
  const first = nameOf(dayOf(keepFrom));
  const dropped = dayOf(keepFrom) * DAY_MS;
  const old = await run<{ name: string }>(
    sql`SELECT CAST(relname AS TEXT) AS name FROM pg_class
      WHERE relkind = 'r' AND relname ~ '^calls_[0-9]{8}$' AND relname < ${first}`,
  );
  await run(sql`UPDATE kept_from SET at = greatest(at, ${dropped})`);
  await run(raw(`SET LOCAL lock_timeout = '2s'`));
  for (const { name } of old) await run(raw(`DROP TABLE ${name}`));
  await run(sql`DELETE FROM calls_of_other_days WHERE at < ${dropped}`);
  await run(sql`DELETE FROM call_tags WHERE at < ${dropped}`);
}
