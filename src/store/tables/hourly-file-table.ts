/** The files of the calls of each hour: a row per hour, with the process that writes it. */

import { HOUR_MS } from '../../canonical/time.ts';
import { type Database, insertInto, sql } from '../database.ts';
import type { HourlyFileStore } from '../hourly-files.ts';

const hoursOf = (rows: readonly { hour: bigint }[]) => rows.map(({ hour }) => Number(hour));

export function hourlyFileTable(db: Database): HourlyFileStore {
  return {
    takenHours: async (first, now) =>
      hoursOf(
        await db.all<{ hour: bigint }>(
          sql`SELECT hour FROM hourly_files WHERE hour >= ${first} AND (done = 1 OR lease_until > ${now})`,
        ),
      ),
    async unfinishedHours(before) {
      const rows = await db.all<{ at: bigint }>(sql`SELECT at FROM holds WHERE at < ${before}`);
      return [...new Set(rows.map(({ at }) => Math.floor(Number(at) / HOUR_MS)))];
    },
    async takeHour(hour, owner, now, leaseUntil) {
      const columns = { hour, owner, lease_until: leaseUntil, tries: 1, done: 0, calls: 0, bytes: 0, at: now };
      const [taken] = await db.all<{ tries: bigint }>(sql`${insertInto('hourly_files', columns)}
        ON CONFLICT (hour) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until,
          tries = hourly_files.tries + 1, at = excluded.at
        WHERE hourly_files.done = 0 AND hourly_files.lease_until <= ${now}
        RETURNING tries`);
      return taken && Number(taken.tries);
    },
    async renewHour(hour, owner, leaseUntil) {
      await db.all(
        sql`UPDATE hourly_files SET lease_until = ${leaseUntil} WHERE hour = ${hour} AND owner = ${owner} AND done = 0`,
      );
    },
    async hourWritten(hour, owner, { calls, bytes, at }) {
      const rows = await db.all(
        sql`UPDATE hourly_files SET done = 1, calls = ${calls}, bytes = ${bytes}, at = ${at}, error = NULL
          WHERE hour = ${hour} AND owner = ${owner} AND done = 0 RETURNING hour`,
      );
      return rows.length > 0;
    },
    async hourFailed(hour, error, retryAt) {
      await db.all(
        sql`UPDATE hourly_files SET owner = '', lease_until = ${retryAt}, done = 0, error = ${error} WHERE hour = ${hour}`,
      );
    },
    async forgetHours(before) {
      const rows = await db.all<{ hour: bigint; done: bigint }>(
        sql`DELETE FROM hourly_files WHERE hour < ${before} RETURNING hour, done`,
      );
      return hoursOf(rows.filter(({ done }) => done === 0n));
    },
  };
}
