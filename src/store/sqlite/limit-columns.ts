/** What accounts and keys have in common in SQLite: switched off or not, budget and pace; and the change of single columns. */
import type { Database } from 'bun:sqlite';
import type { Budget, Pace } from '../store.ts';

export interface LimitColumns {
  disabled_at: bigint | null;
  budget_total: bigint | null;
  budget_day: bigint | null;
  budget_month: bigint | null;
  requests_per_minute: bigint | null;
  tokens_per_minute: bigint | null;
  concurrency: bigint | null;
}

export function limitsFrom(row: LimitColumns): Pace & { disabledAt?: number; budget?: Budget } {
  const budget: Budget = {
    ...(row.budget_total !== null && { total: row.budget_total }),
    ...(row.budget_day !== null && { day: row.budget_day }),
    ...(row.budget_month !== null && { month: row.budget_month }),
  };
  return {
    ...(row.disabled_at !== null && { disabledAt: Number(row.disabled_at) }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(row.requests_per_minute !== null && { requestsPerMinute: Number(row.requests_per_minute) }),
    ...(row.tokens_per_minute !== null && { tokensPerMinute: Number(row.tokens_per_minute) }),
    ...(row.concurrency !== null && { concurrency: Number(row.concurrency) }),
  };
}

type Column = string | number | bigint | null | undefined;

/** A budget is changed as a whole: a window it does not name has none. */
export function budgetColumns(budget: Budget | null | undefined): { [column: string]: Column } {
  if (budget === undefined) return {};
  return {
    budget_total: budget?.total ?? null,
    budget_day: budget?.day ?? null,
    budget_month: budget?.month ?? null,
  };
}

/** Sets the columns that are given and returns the row; `undefined` where there is none. */
export function updateRow<Row>(
  db: Database,
  table: 'accounts' | 'keys',
  id: string,
  columns: { readonly [column: string]: Column },
): Row | undefined {
  const given = Object.entries(columns).filter((column): column is [string, Exclude<Column, undefined>] => {
    return column[1] !== undefined;
  });
  const set = given.map(([name]) => `${name} = ?`).join(', ') || 'id = id';
  const row = db
    .query<Row, Exclude<Column, undefined>[]>(`UPDATE ${table} SET ${set} WHERE id = ? RETURNING *`)
    .safeIntegers(true)
    .get(...given.map(([, value]) => value), id);
  return row ?? undefined;
}
