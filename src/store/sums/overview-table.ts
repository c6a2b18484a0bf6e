/** Reads the sums for the overview. */

import { HOUR_MS } from '../../canonical/time.ts';
import { type Database, raw, type Statement, sql } from '../database.ts';
import type { OverviewLine, OverviewStore } from '../overview.ts';
import { OVERVIEW_TOTALS, type OverviewFigureColumns, toOverviewFigures } from './overview-columns.ts';
import type { OverviewSpan } from './overview-slots.ts';
import { SLOT_MS, SLOTS_PER_DAY, SLOTS_PER_HOUR } from './overview-sums.ts';

/** The maximum of single calls that one request reads: it takes some tens of milliseconds. */
const MOST_CALLS = 20_000;

interface OverviewLineColumns {
  account: string;
  key: string;
  calls: bigint;
  cost: bigint;
  tokens: bigint;
}

export function overviewTable(db: Database): OverviewStore {
  return {
    async overview({ before, from, to, step }, most) {
      const [steps, models] = await Promise.all([
        db.scan<
          { step: bigint } & OverviewFigureColumns
        >(sql`SELECT slot / CAST(${step} AS BIGINT) AS step, ${raw(OVERVIEW_TOTALS)}
          FROM overview_sums WHERE slot >= ${before} AND slot < ${to} GROUP BY 1 ORDER BY 1`),
        db.scan<{ model: string } & OverviewFigureColumns>(sql`SELECT model, ${raw(OVERVIEW_TOTALS)} FROM overview_sums
          WHERE slot >= ${from} AND slot < ${to} GROUP BY model HAVING sum(calls) > 0 ORDER BY sum(cost) DESC, sum(calls) DESC, model LIMIT ${most}`),
      ]);
      return {
        steps: steps.map((row) => ({ slot: Number(row.step) * step, figures: toOverviewFigures(row) })),
        models: models.map((row) => ({ model: String(row.model), figures: toOverviewFigures(row) })),
      };
    },

    async topSpenders(span, most, calls) {
      const { from, lines } = linesOf(span, calls);
      const columns = raw(
        'CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(cost) AS BIGINT) AS cost, CAST(sum(tokens) AS BIGINT) AS tokens',
      );
      const rows = await db.scan<OverviewLineColumns>(sql`WITH lines AS MATERIALIZED (
          SELECT account, key, ${columns} FROM (${lines}) AS parts GROUP BY account, key HAVING sum(calls) > 0
        )
        SELECT * FROM (SELECT account, key, calls, cost, tokens FROM lines ORDER BY cost DESC, calls DESC, key LIMIT ${most}) AS keys
        UNION ALL SELECT * FROM (
          SELECT account, '' AS key, ${columns} FROM lines GROUP BY account ORDER BY 4 DESC, 3 DESC, account LIMIT ${most}
        ) AS accounts`);
      const keys = rows.filter(({ key }) => key !== '');
      const accounts = rows.filter(({ key }) => key === '');
      return {
        from,
        keys: keys.map((row) => ({ ...toLine(row), key: row.key })),
        accounts: accounts.map(toLine),
      };
    },

    async heldSum() {
      const [row] = await db.all<{ open: bigint; amount: bigint; oldest: bigint | null }>(
        raw(
          'SELECT count(*) AS open, CAST(coalesce(sum(amount), 0) AS BIGINT) AS amount, min(at) AS oldest FROM holds',
        ),
      );
      const { open = 0n, amount = 0n, oldest = null } = row ?? {};
      return { open: Number(open), amount, ...(oldest !== null && { oldest: Number(oldest) }) };
    },
  };
}

const toLine = ({ account, calls, cost, tokens }: OverviewLineColumns): OverviewLine => ({
  account,
  calls: Number(calls),
  cost,
  tokens: Number(tokens),
});

/** The rows to sum, and when they begin: whole days by key, hours, or the calls of a part of an hour if they are few. */
function linesOf({ from, to, step }: OverviewSpan, calls: number): { from: number; lines: Statement } {
  if (from % SLOTS_PER_DAY === 0 && (step === SLOTS_PER_DAY || to - from > SLOTS_PER_DAY)) {
    const [first, end] = [from / SLOTS_PER_DAY, Math.ceil(to / SLOTS_PER_DAY)];
    const lines = sql`SELECT account, key, calls, cost, tokens FROM key_days WHERE day >= ${first} AND day < ${end}`;
    return { from: from * SLOT_MS, lines };
  }
  if (step < SLOTS_PER_HOUR && calls <= MOST_CALLS) {
    const times = sql`at >= ${from * SLOT_MS} AND at < ${to * SLOT_MS}`;
    const lines = sql`SELECT account, key, 1 AS calls, cost, input_tokens + output_tokens AS tokens FROM calls
      WHERE ${times} ORDER BY at DESC, id DESC LIMIT ${MOST_CALLS}`;
    return { from: from * SLOT_MS, lines };
  }
  const [first, end] = [Math.floor(from / SLOTS_PER_HOUR), Math.ceil(to / SLOTS_PER_HOUR)];
  const lines = sql`SELECT account, key, calls, cost, input_tokens + output_tokens AS tokens FROM call_sums
    WHERE hour >= ${first} AND hour < ${end}`;
  return { from: first * HOUR_MS, lines };
}
