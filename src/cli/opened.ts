/** What several commands ask of the rooms: a migrated store, an account by name, a whole list. */
import { auditOf, auditOfEntry } from '../access/audit.ts';
import type { AccountRow, Audit, EntryRow, Page, Store } from '../store/store.ts';
import { UsageError } from './command.ts';
import type { Opener } from './rooms.ts';

export async function migratedStore(open: Opener): Promise<Store> {
  const store = await open.store();
  await store.migrate();
  return store;
}

export async function accountNamed(store: Store, idOrName: string): Promise<AccountRow> {
  const account = await store.account(idOrName);
  if (account) return account;
  throw new UsageError(`There is no account "${idOrName}". "modelport accounts list" shows those there are.`);
}

const ACTOR = 'cli';

/** Keeps on record what is done from a terminal. */
export const audited = (open: Opener, action: string, subject: string): Audit<object> =>
  auditOf({ actor: ACTOR, action, subject }, open.now());

/** The same of money moved. */
export const auditedEntry = (open: Opener, action: string, account: string): Audit<EntryRow> =>
  auditOfEntry({ actor: ACTOR, action, subject: account }, open.now());

const PAGE_LIMIT = 1000;

/** All rows of a paged list. */
export async function allRows<Row extends { id: string }>(read: (page: Page) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const after = rows.at(-1)?.id;
    const page = await read({ limit: PAGE_LIMIT, ...(after !== undefined && { after }) });
    rows.push(...page);
    if (page.length < PAGE_LIMIT) return rows;
  }
}
