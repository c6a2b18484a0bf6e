/** Reads that several pages share. A page's own reads stand beside it. */
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { ask, withQuery } from './client.ts';
import { isMember, useSession } from './session.ts';
import type { Account, Key, Model, Page, Provider, TargetHealth } from './types.ts';

const PAGE = 1000;
/** A list that a page needs complete (names behind ids). Beyond this the ids themselves are shown. */
const MOST_PAGES = 10;

/** All pages of a list, up to MOST_PAGES. */
export async function fetchAll<T>(path: string): Promise<T[]> {
  const rows: T[] = [];
  let after: string | undefined;
  for (let at = 0; at < MOST_PAGES; at++) {
    const page = await ask<Page<T>>(withQuery(path, { limit: PAGE, after }));
    rows.push(...page.data);
    if (!page.hasMore || !page.next) break;
    after = page.next;
  }
  return rows;
}

const STALE = 15_000;

export function useAccounts(enabled = true) {
  return useQuery({
    queryKey: ['accounts'],
    queryFn: () => fetchAll<Account>('/admin/v1/accounts'),
    staleTime: STALE,
    enabled,
  });
}

/** All keys for operators, the own ones for members. */
export function useKeys(enabled = true) {
  const path = useOwnPath('/admin/v1/keys', '/keys');
  return useQuery({ queryKey: ['keys'], queryFn: () => fetchAll<Key>(path), staleTime: STALE, enabled });
}

export function useModels(enabled = true) {
  return useQuery({
    queryKey: ['models'],
    queryFn: () => fetchAll<Model>('/admin/v1/models'),
    staleTime: STALE,
    enabled,
  });
}

export function useProviders(enabled = true) {
  return useQuery({
    queryKey: ['providers'],
    queryFn: () => fetchAll<Provider>('/admin/v1/providers'),
    staleTime: STALE,
    enabled,
  });
}

export function useHealth(enabled = true) {
  return useQuery({
    queryKey: ['health'],
    queryFn: () => ask<{ data: TargetHealth[] }>('/admin/v1/health/targets').then(({ data }) => data),
    refetchInterval: 10_000,
    enabled,
  });
}

/** Members read their own account below /console/api/account; everybody else reads the admin API. */
export function useOwnPath(adminPath: string, ownPath: string): string {
  return isMember(useSession()) ? `/console/api/account${ownPath}` : adminPath;
}

export function refresh(client: QueryClient, ...names: readonly string[]): Promise<unknown> {
  return Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [name] })));
}
