/** What the overview reads: usage of the period and of the one before, and the latest calls for rates and times. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, withQuery } from '../../api/client.ts';
import type { CallRow, Page, UsageReport } from '../../api/types.ts';
import { type Period, spanOf } from '../../parts/filters.ts';

const SAMPLE = 1000;
const REFRESH_MS = 15_000;

export const isHourly = (period: Period): boolean => period === '1h' || period === '24h' || period === '7d';

export interface Overview {
  from: number;
  to: number;
  before: number;
  current: UsageReport;
  beforeReport: UsageReport;
  models: UsageReport;
  accounts: UsageReport;
  calls: readonly CallRow[];
  isSample: boolean;
}

async function readOverview(period: Period): Promise<Overview> {
  const { from, to, before } = spanOf(period, Date.now());
  const step = isHourly(period) ? 'hour' : 'day';
  const usage = (group_by: string, from: Date, to: Date) =>
    ask<UsageReport>(withQuery('/admin/v1/usage', { group_by, from: from.toISOString(), to: to.toISOString() }));
  const [current, beforeReport, models, accounts, calls] = await Promise.all([
    usage(step, from, to),
    usage(step, before, from),
    usage('model', from, to),
    usage('account', from, to),
    ask<Page<CallRow>>(withQuery('/admin/v1/calls', { limit: SAMPLE, from: from.toISOString() })),
  ]);
  return {
    from: from.getTime(),
    to: to.getTime(),
    before: before.getTime(),
    current,
    beforeReport,
    models,
    accounts,
    calls: calls.data,
    isSample: calls.hasMore,
  };
}

export function useOverview(period: Period) {
  return useQuery({
    queryKey: ['overview', period],
    queryFn: () => readOverview(period),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
