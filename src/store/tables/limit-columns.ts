/** Columns that accounts and keys share: status, budget and rate limits. */
import type { Value } from '../database.ts';
import type { Budget, Pace } from '../rows.ts';

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

interface Limited {
  disabledAt?: number | null;
  budget?: Budget | null;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  concurrency?: number | null;
}

/** A budget is replaced as a whole: a window that it does not name has no limit. */
export function limitColumns({ budget, ...limits }: Limited): { [column: string]: Value | undefined } {
  return {
    disabled_at: limits.disabledAt,
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrency: limits.concurrency,
    ...(budget !== undefined && {
      budget_total: budget?.total ?? null,
      budget_day: budget?.day ?? null,
      budget_month: budget?.month ?? null,
    }),
  };
}
