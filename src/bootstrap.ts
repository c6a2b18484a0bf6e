/** Bootstraps an empty database: an account with credit, one caller key and one admin key, shown once. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditOf, auditRow } from './access/audit.ts';
import { issueKey } from './access/key.ts';
import { newId } from './canonical/id.ts';
import type { Money } from './canonical/money.ts';
import { FIRST_KEYS_FILE } from './config/admin-server.ts';
import { SettingError } from './config/setting-error.ts';
import { startingCredit } from './ledger/starting-credit.ts';
import type { AccountRow, KeyKind, KeyRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

const ACCOUNT = 'default';
/** The actor in the audit log. */
const ACTOR = 'start';

export interface FirstStartOptions {
  /** Keys given by the operator. Absent: random keys. */
  apiKey: string | undefined;
  adminKey: string | undefined;
  credit: Money;
  now: number;
}

/** The file for random keys when output is not a terminal; removed if the database was not empty. */
export interface KeyFile {
  readonly path: string;
  write(keys: FirstKeys): void;
  remove(): void;
}

/** The random keys. Keys given by the operator are not shown. */
export interface FirstKeys {
  apiKey: string | undefined;
  adminKey: string | undefined;
}

/** In the form of a shell script, readable by the owner only. */
export function keyFileIn(folder: string): KeyFile {
  const path = join(folder, FIRST_KEYS_FILE);
  return {
    path,
    write({ apiKey, adminKey }) {
      if (apiKey === undefined && adminKey === undefined) return;
      const lines = [apiKey && `MODELPORT_KEY=${apiKey}`, adminKey && `MODELPORT_ADMIN_KEY=${adminKey}`];
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        // Overwriting would keep the mode of an existing file, so it is removed first.
        rmSync(path, { force: true });
        writeFileSync(path, `${lines.filter(Boolean).join('\n')}\n`, { mode: 0o600, flag: 'wx' });
      } catch (cause) {
        throw new SettingError(`The first keys cannot be written to ${path}: ${reasonOf(cause)}.`, { cause });
      }
    },
    remove: () => rmSync(path, { force: true }),
  };
}

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));

/** Bootstraps an empty database and returns its keys; `undefined` if there are accounts. If several processes start, one does it. */
export async function firstStart(
  store: Store,
  options: FirstStartOptions & { file?: KeyFile | undefined },
): Promise<FirstKeys | undefined> {
  const { credit, now, file } = options;
  if ((await store.accounts({ limit: 1 })).length > 0) return undefined;
  const account = newId('acct_');
  const caller = newKey('caller', options.apiKey);
  const admin = newKey('admin', options.adminKey);
  const keys = [caller.row, admin.row];
  const random: FirstKeys = {
    apiKey: options.apiKey === undefined ? caller.key : undefined,
    adminKey: options.adminKey === undefined ? admin.key : undefined,
  };
  // Before the keys are stored: keys that cannot be read would lock everybody out.
  file?.write(random);
  const row: AccountRow = { id: account, name: ACCOUNT, balance: 0n, held: 0n, createdAt: now };
  const begun = await store.begin({
    account: row,
    steps: credit > 0n ? [startingCredit(account, credit, now)] : [],
    keys,
    audits: [
      auditRow({ actor: ACTOR, action: 'account.created', subject: account, after: row }, now),
      ...keys.map((key) => auditRow({ actor: ACTOR, action: 'key.created', subject: key.id, after: key }, now)),
    ],
  });
  if (begun) return random;
  file?.remove();
  return undefined;

  function newKey(kind: KeyKind, given: string | undefined): { key: string; row: KeyRow } {
    const { key, hash, last4 } = issueKey(kind, given);
    return { key, row: { id: newId('key_'), account, kind, name: 'first start', hash, last4, createdAt: now } };
  }
}

/** Keys given in the environment work after every start, even if they were changed. */
export async function ensureKeys(store: Store, options: Omit<FirstStartOptions, 'credit'>): Promise<void> {
  const account = await store.account(ACCOUNT);
  if (!account) return;
  const given: [KeyKind, string | undefined][] = [
    ['caller', options.apiKey],
    ['admin', options.adminKey],
  ];
  for (const [kind, key] of given) {
    if (key === undefined) continue;
    const { hash, last4 } = issueKey(kind, key);
    if (await store.keyByHash(hash)) continue;
    const id = newId('key_');
    const row = { id, account: account.id, kind, name: 'environment', hash, last4, createdAt: options.now };
    await store.createKey(row, auditOf({ actor: ACTOR, action: 'key.created', subject: id }, options.now));
  }
}
