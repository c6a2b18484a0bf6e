/** What several commands ask for: the admin API of a server, or a migrated database of their own. */
import { auditOf, auditOfEntry } from '../access/audit.ts';
import type { Audit, EntryRow, Store } from '../store/store.ts';
import { type AdminClient, createAdminClient } from './admin-client.ts';
import type { Opener } from './cli-deps.ts';
import type { Given } from './command.ts';

/** The admin API that the options, or the environment, name. */
export function adminOf(open: Opener, given: Given): AdminClient {
  const server = open.server({ url: given.option('url'), keyFile: given.option('key-file') });
  return createAdminClient({ server, version: open.version, ask: open.ask, warn: open.terminal.err });
}

export async function migratedStore(open: Opener): Promise<Store> {
  const store = await open.store();
  await store.migrate();
  return store;
}

const ACTOR = 'cli';

/** Keeps on record what a command does to its own database. */
export const audited = (open: Opener, action: string, subject: string): Audit<object> =>
  auditOf({ actor: ACTOR, action, subject }, open.now());

/** The same of money moved. */
export const auditedEntry = (open: Opener, action: string, account: string): Audit<EntryRow> =>
  auditOfEntry({ actor: ACTOR, action, subject: account }, open.now());
