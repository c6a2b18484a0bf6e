/** The list of calls behind the filters of the address. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ask, withQuery } from '../../api/client.ts';
import { useOwnPath } from '../../api/queries.ts';
import type { CallRow, Page } from '../../api/types.ts';
import { type Period, readPeriod, spanOf } from '../../parts/filters.ts';

const ROWS = 50;
const LIVE_MS = 3000;

export const callsRoute = getRouteApi('/calls');

export type CallSearch = ReturnType<typeof callsRoute.useSearch>;

/** The address' filters as the API's query. Without a period the list has no beginning. */
export function queryOf(search: CallSearch, now: number): Record<string, string | undefined> {
  const { period, call: _, ...filters } = search;
  if (period === undefined) return filters;
  return { ...filters, from: spanOf(readPeriod(period, '1h') as Period, now).from.toISOString() };
}

export function useCalls(search: CallSearch, isLive: boolean) {
  const path = useOwnPath('/admin/v1/calls', '/calls');
  const { call: _, ...listed } = search;
  return useQuery({
    queryKey: ['calls', path, listed],
    queryFn: ({ signal }) =>
      ask<Page<CallRow>>(withQuery(path, { limit: ROWS, ...queryOf(listed, Date.now()) }), { signal }),
    refetchInterval: isLive ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
}

/** All calls that match, as a file. The browser downloads it; nothing of it is held in memory. */
export async function exportCalls(path: string, search: CallSearch): Promise<void> {
  const { after: _, ...rest } = queryOf(search, Date.now());
  const response = await fetch(withQuery(path, rest), { headers: { accept: 'text/csv' }, credentials: 'same-origin' });
  if (!response.ok) throw new Error(response.statusText);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = 'calls.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
