/** Writes the sums for the overview in SQLite. One process writes at a time, so all rows have the same writer. */
import type { Database } from 'bun:sqlite';
import type { Usage } from '../../canonical/usage.ts';
import type { CallOutcome } from '../rows.ts';
import { OVERVIEW_ADDED, OVERVIEW_COLUMNS, OVERVIEW_TOTALS, OVERVIEW_VALUES } from '../sums/overview-columns.ts';
import { type OverviewSum, OverviewSums, type SummedCall } from '../sums/overview-sums.ts';
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

/** As text where a number would not be exact. */
const exact = (column: string) =>
  `CASE WHEN ${column} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER} THEN ${column} ELSE CAST(${column} AS TEXT) END`;
type Exact = number | string;

/** Every call is read here: rows of numbers take half the time of objects of bigints. Few usages have members that are summed. */
const UNFILED = `SELECT at, model, outcome, ${exact('cost')}, ${exact('saved')},
  CASE WHEN instr(usage, '"cache') > 0 OR instr(usage, '"reasoning"') > 0 THEN usage END,
  first_byte_ms, duration_ms, provisional, input_tokens, output_tokens FROM unfiled_calls WHERE seq <= ?`;
type UnfiledRow = readonly [
  at: number,
  model: string,
  outcome: CallOutcome,
  cost: Exact,
  saved: Exact,
  usage: string | null,
  firstByteMs: number | null,
  durationMs: number,
  provisional: number,
  input: number,
  output: number,
];

/** Sums the unfiled calls up to `last`. */
export function prepareUnfiledOverview(db: Database): (last: number) => void {
  const calls = db.query<never, [number]>(UNFILED);
  const add = prepareOverview(db);
  return (last) => {
    const sums = new OverviewSums();
    for (const row of calls.values(last) as unknown as readonly UnfiledRow[]) sums.add(callIn(row));
    add(sums.sums);
  };
}

function callIn(row: UnfiledRow): SummedCall {
  const [at, model, outcome, cost, saved, usage, firstByteMs, durationMs, provisional, input, output] = row;
  const tokens = { input, output };
  const call: SummedCall = { at, model, outcome, cost: BigInt(cost), saved: BigInt(saved), durationMs, tokens };
  if (usage !== null) call.usage = JSON.parse(usage) as Usage;
  if (firstByteMs !== null) call.firstByteMs = firstByteMs;
  if (provisional !== 0) call.provisional = true;
  return call;
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
