/** Reads one page of a list. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask, type Query, withQuery } from '../api/client.ts';
import type { Page } from '../api/types.ts';

const ROWS = 50;

/** One page of a list of the API. `after` of the query is the page. */
export function usePage<T>(name: string, path: string, query: Query = {}) {
  return useQuery({
    queryKey: [name, path, query],
    queryFn: ({ signal }) => ask<Page<T>>(withQuery(path, { limit: ROWS, ...query }), { signal }),
    placeholderData: keepPreviousData,
  });
}
