/** The list of calls behind the filters of the address. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ask, send, withQuery } from '../../api/client.ts';
import { useOwnPath } from '../../api/queries.ts';
import type { CallRow, Page } from '../../api/types.ts';
import { download } from '../../parts/csv.ts';
import { type Period, readPeriod, spanOf } from '../../parts/filters.ts';
import { withCall } from './live.ts';

const ROWS = 50;
const LIVE_MS = 3000;

export const callsRoute = getRouteApi('/calls');

export type CallSearch = ReturnType<typeof callsRoute.useSearch>;

/** The address' filters as the API's query. Without a period the list has no beginning. */
function queryOf(search: CallSearch, now: number): Record<string, string | undefined> {
  const { period, call: _, ...filters } = search;
  if (period === undefined) return filters;
  return { ...filters, from: spanOf(readPeriod(period, '1h') as Period, now).from.toISOString() };
}

export function useCalls(search: CallSearch, isLive: boolean) {
  const path = useOwnPath('/admin/v1/calls', '/calls');
  const { call: _, ...listed } = search;
  const queryKey = ['calls', path, listed];
  const isStreamed = useStream(path, listed, isLive && path.startsWith('/admin/'), queryKey);
  return useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      ask<Page<CallRow>>(withQuery(path, { limit: ROWS, ...queryOf(listed, Date.now()) }), { signal }),
    refetchInterval: isLive && !isStreamed ? LIVE_MS : false,
    placeholderData: (before) => before,
  });
}

/** Adds calls to the list when they end. Returns whether the stream is open: otherwise the list is read again and again. */
function useStream(path: string, listed: CallSearch, isLive: boolean, queryKey: readonly unknown[]): boolean {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { after: _, ...filters } = queryOf(listed, Date.now());
  const { from: __, ...streamed } = filters;
  const address = withQuery(`${path}/stream`, streamed);
  const key = JSON.stringify(queryKey);
  useEffect(() => {
    if (!isLive) return;
    const of = JSON.parse(key) as unknown[];
    const source = new EventSource(address);
    source.onopen = () => {
      setOpen(true);
      // What ended before is in the list.
      void client.invalidateQueries({ queryKey: of });
    };
    source.onerror = () => setOpen(false);
    source.addEventListener('call', ({ data }: MessageEvent<string>) => {
      const call = JSON.parse(data) as CallRow;
      client.setQueryData<Page<CallRow>>(of, (page) => page && withCall(page, call, ROWS));
    });
    source.addEventListener('end', () => {
      source.close();
      setOpen(false);
    });
    return () => {
      source.close();
      setOpen(false);
    };
  }, [address, key, isLive, client]);
  return isOpen;
}

/** All calls that match, as a file. The browser holds it while it arrives. */
export async function exportCalls(path: string, search: CallSearch): Promise<void> {
  const { after: _, ...rest } = queryOf(search, Date.now());
  const response = await send(withQuery(path, rest), { headers: { accept: 'text/csv' } });
  download('calls.csv', await response.blob());
}
