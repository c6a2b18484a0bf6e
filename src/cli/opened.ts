/** What several commands use: the admin API of a server, or a migrated local database. */
import { auditOf, auditOfEntry } from '../access/audit.ts';
import type { Audit, EntryRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type AdminClient, createAdminClient } from './admin-client.ts';
import type { CliDeps } from './cli-deps.ts';
import type { Given } from './command.ts';

/** The admin API that the options or the environment name. */
export function adminOf(open: CliDeps, given: Given): AdminClient {
  const server = open.server({ url: given.option('url'), keyFile: given.option('key-file') });
  return createAdminClient({ server, version: open.version, ask: open.ask, warn: open.terminal.err });
}

/** The migrated local database. Throws an Error if it is empty: nothing was ever in it, so it is not the one that was meant. */
export async function migratedStore(open: CliDeps): Promise<Store> {
  const store = await open.store();
  const state = await store.schema();
  if (state.is === 'behind' && state.version === 0) throw new Error(EMPTY);
  await store.migrate();
  return store;
}

const EMPTY =
  'This database is empty: MODELPORT_DATA_DIR or DATABASE_URL may name another one than the gateway\'s. "modelport doctor" shows which.';

const ACTOR = 'cli';

/** The audit row for a change that a command makes in its local database. */
export const commandAudit = (open: CliDeps, action: string, subject: string): Audit<object> =>
  auditOf({ actor: ACTOR, action, subject }, open.now());

/** The same for a ledger entry. */
export const auditedEntry = (open: CliDeps, action: string, account: string): Audit<EntryRow> =>
  auditOfEntry({ actor: ACTOR, action, subject: account }, open.now());
