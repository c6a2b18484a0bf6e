/** The calls of each day in a partition of their own, made ahead; what is older than it is kept goes by whole days. */
import { raw, sql } from '../database.ts';
import type { PostgresConnection, Run } from './connection.ts';

const DAY_MS = 86_400_000;
/** Today and the days after it: an idle weekend finds its partitions made. */
const DAYS_AHEAD = 4;
const PARTITION_LOCK = 7_305_164_321;

const dayOf = (at: number) => Math.floor(at / DAY_MS);

function nameOf(day: number): string {
  return `calls_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

export async function tidyCalls(
  { transact }: PostgresConnection,
  now: number,
  keepFrom: number | undefined,
): Promise<void> {
  const today = dayOf(now);
  // Each in a transaction of its own: making a partition locks all of them, for a moment.
  for (let day = today; day < today + DAYS_AHEAD; day++) {
    await transact((run) => makePartition(run, day));
  }
  if (keepFrom !== undefined) await transact((run) => dropPartitions(run, keepFrom));
}

/** Calls that came before their partition was made stay where they are, and so do the other calls of that day. */
async function makePartition(run: Run, day: number): Promise<void> {
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

async function dropPartitions(run: Run, keepFrom: number): Promise<void> {
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
}
