/** Names behind the ids of accounts and keys, where this person may read them. */
import { useAccounts, useKeys } from '../../api/queries.ts';
import { isMember, useMay, useSession } from '../../api/session.ts';

export interface Names {
  account: (id: string) => string;
  key: (id: string) => string;
}

export function useNames(): Names {
  const session = useSession();
  const may = useMay();
  const accounts = useAccounts(may('accounts:read'));
  const keys = useKeys(may('keys:read') || isMember(session));
  const accountNames = new Map(
    accounts.data?.map(({ id, name }) => [id, name]) ?? session.accounts.map(({ id, name }) => [id, name]),
  );
  const keyNames = new Map(keys.data?.map(({ id, name }) => [id, name]));
  return { account: (id) => accountNames.get(id) ?? id, key: (id) => keyNames.get(id) ?? id };
}
