/** Writes the sums for the overview in SQLite. One process writes at a time, so all rows have the same writer. */
import type { Database } from 'bun:sqlite';
import type { Usage } from '../../canonical/usage.ts';
import { OVERVIEW_ADDED, OVERVIEW_COLUMNS, OVERVIEW_TOTALS, OVERVIEW_VALUES } from '../overview-columns.ts';
import { type OverviewSum, OverviewSums } from '../overview-sums.ts';
import type { CallOutcome } from '../rows.ts';
import type { RunsWithArray } from './call-values.ts';

export function prepareOverview(db: Database): (sums: readonly OverviewSum[]) => void {
  const marks = new Array(OVERVIEW_VALUES).fill('?').join(', ');
  const add = db.prepare(
    `INSERT INTO overview_sums AS sums (${OVERVIEW_COLUMNS}) VALUES (${marks}) ON CONFLICT DO UPDATE SET ${OVERVIEW_ADDED}`,
  ) as unknown as RunsWithArray;
  return (sums) => {
    for (const { slot, model, cost, saved, counts } of sums) add.run([slot, '', model, cost, saved, ...counts]);
  };
}

interface UnfiledRow {
  at: bigint;
  model: string;
  outcome: CallOutcome;
  cost: bigint;
  saved: bigint;
  usage: string | null;
  first_byte_ms: bigint | null;
  duration_ms: bigint;
  provisional: bigint;
  input_tokens: bigint;
  output_tokens: bigint;
}

/** Sums the unfiled calls up to `last`. */
export function prepareUnfiledOverview(db: Database): (last: number) => void {
  const calls = db
    .query<UnfiledRow, [number]>(
      `SELECT at, model, outcome, cost, saved, usage, first_byte_ms, duration_ms, provisional, input_tokens, output_tokens
       FROM unfiled_calls WHERE seq <= ?`,
    )
    .safeIntegers(true);
  const add = prepareOverview(db);
  return (last) => {
    const sums = new OverviewSums();
    for (const row of calls.iterate(last)) {
      sums.add({
        at: Number(row.at),
        model: row.model,
        outcome: row.outcome,
        cost: row.cost,
        saved: row.saved,
        ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage }),
        ...(row.first_byte_ms !== null && { firstByteMs: Number(row.first_byte_ms) }),
        durationMs: Number(row.duration_ms),
        ...(row.provisional !== 0n && { provisional: true }),
        tokens: { input: Number(row.input_tokens), output: Number(row.output_tokens) },
      });
    }
    add(sums.sums);
  };
}

type Amount = number | bigint;

export function prepareKeyDay(
  db: Database,
): (account: string, hour: number, key: string, calls: Amount, cost: Amount, tokens: Amount) => void {
  const add =
    db.prepare(`INSERT INTO key_days AS sums (day, account, key, calls, cost, tokens) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE
    SET calls = sums.calls + excluded.calls, cost = sums.cost + excluded.cost, tokens = sums.tokens + excluded.tokens`);
  return (account, hour, key, calls, cost, tokens) => {
    add.run(Math.floor(hour / 24), account, key, calls, cost, tokens);
  };
}

/** Merges the slots before this one into slots of `size`, within the caller's transaction. */
export function mergeSlots(db: Database, size: number, before: number): void {
  const old = `FROM overview_sums WHERE slot < ${before} AND slot % ${size} <> 0`;
  db.run(`INSERT INTO overview_sums AS sums (${OVERVIEW_COLUMNS}) SELECT slot - slot % ${size}, '', model, ${OVERVIEW_TOTALS} ${old}
    GROUP BY 1, 2, 3 ON CONFLICT DO UPDATE SET ${OVERVIEW_ADDED}`);
  db.run(`DELETE ${old}`);
}
