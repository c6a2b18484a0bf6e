/** The data of a member's first page. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, withQuery } from '../../api/client.ts';
import type { Account, CallRow, Page, UsageReport } from '../../api/types.ts';
import { type Period, spanOf } from '../../parts/filters.ts';

const OWN = '/console/api/account';
const LATEST = 6;

export function useOwnAccount() {
  return useQuery({ queryKey: ['own-account'], queryFn: () => ask<Account>(OWN) });
}

export function useOwnUsage(group_by: string, period: Period) {
  return useQuery({
    queryKey: ['own-usage', group_by, period],
    queryFn: () => {
      const { from, to } = spanOf(period, Date.now());
      return ask<UsageReport>(withQuery(`${OWN}/usage`, { group_by, from: from.toISOString(), to: to.toISOString() }));
    },
    placeholderData: keepPreviousData,
  });
}

/** Totals of the period before, for the comparison. */
export function useUsageBefore(period: Period) {
  return useQuery({
    queryKey: ['own-usage-before', period],
    queryFn: () => {
      const { from, before } = spanOf(period, Date.now());
      return ask<UsageReport>(
        withQuery(`${OWN}/usage`, { group_by: 'day', from: before.toISOString(), to: from.toISOString() }),
      );
    },
    placeholderData: keepPreviousData,
  });
}

export function useLatestCalls() {
  return useQuery({
    queryKey: ['own-latest'],
    queryFn: () => ask<Page<CallRow>>(withQuery(`${OWN}/calls`, { limit: LATEST })),
    refetchInterval: 10_000,
  });
}
