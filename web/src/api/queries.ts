/** Reads that several pages share. A page's own reads stand beside it. */
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { ask, withQuery } from './client.ts';
import { isMember, useSession } from './session.ts';
import type { Account, Key, Model, Page, Provider, TargetHealth } from './types.ts';

const PAGE = 1000;
/** A list that a page needs complete (names behind ids). Beyond this the ids themselves are shown. */
const MOST_PAGES = 10;

/** All pages of a list, up to `most`. */
export async function fetchAll<T>(path: string, most = MOST_PAGES): Promise<T[]> {
  const rows: T[] = [];
  let after: string | undefined;
  for (let at = 0; at < most; at++) {
    const page = await ask<Page<T>>(withQuery(path, { limit: PAGE, after }));
    rows.push(...page.data);
    if (!page.hasMore || !page.next) break;
    after = page.next;
  }
  return rows;
}

const STALE = 15_000;

function useAll<T>(name: string, path: string, enabled: boolean) {
  return useQuery({ queryKey: [name], queryFn: () => fetchAll<T>(path), staleTime: STALE, enabled });
}

export function useAccounts(enabled = true) {
  return useAll<Account>('accounts', '/admin/v1/accounts', enabled);
}

/** All keys for operators, the own ones for members. */
export function useKeys(enabled = true) {
  return useAll<Key>('keys', useOwnPath('/admin/v1/keys', '/keys'), enabled);
}

export function useModels(enabled = true) {
  return useAll<Model>('models', '/admin/v1/models', enabled);
}

export function useProviders(enabled = true) {
  return useAll<Provider>('providers', '/admin/v1/providers', enabled);
}

const fetchRows = <T>(path: string) => ask<{ data: T[] }>(path).then(({ data }) => data);

/** A list that comes without pages. */
export function useRows<T>(name: string, path: string) {
  return useQuery({ queryKey: [name], queryFn: () => fetchRows<T>(path) });
}

export function useHealth(enabled = true) {
  return useQuery({
    queryKey: ['health'],
    queryFn: () => fetchRows<TargetHealth>('/admin/v1/health/targets'),
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
