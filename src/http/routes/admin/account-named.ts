/** Looks up accounts by id or name. */
import { GatewayError } from '../../../canonical/errors.ts';
import type { AccountRow } from '../../../store/rows.ts';
import type { Store } from '../../../store/store.ts';

/** The account with this id or name. Throws `not_found`. */
export async function accountNamed(store: Store, idOrName = '', param = 'account'): Promise<AccountRow> {
  const account = await store.account(idOrName);
  if (account) return account;
  throw new GatewayError('not_found', `There is no account "${idOrName}".`, { param });
}
