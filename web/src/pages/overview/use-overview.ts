/** What the overview reads: the figures of the period beside those of the period before. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, withQuery } from '../../api/client.ts';
import type { Overview } from '../../api/types.ts';
import { beginningOf, type Period } from '../../parts/filters.ts';

const REFRESH_MS = 15_000;

export function useOverview(period: Period) {
  return useQuery({
    queryKey: ['overview', period],
    queryFn: () =>
      ask<Overview>(withQuery('/admin/v1/overview', { from: beginningOf(period, Date.now()).toISOString() })),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
