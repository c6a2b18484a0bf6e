/** The first start on an empty database: an account with credit, one caller key and one admin key, told once. */
import { auditOf, auditRow } from './access/audit.ts';
import { issueKey } from './access/key.ts';
import { newId } from './canonical/id.ts';
import type { Money } from './canonical/money.ts';
import { startingCredit } from './ledger/starting-credit.ts';
import type { AccountRow, KeyKind, KeyRow, Store } from './store/store.ts';

const ACCOUNT = 'default';
/** As the record of changes names who did it. */
const ACTOR = 'start';

export interface FirstStartOptions {
  /** Keys given by the operator; absent: random ones. */
  apiKey: string | undefined;
  adminKey: string | undefined;
  credit: Money;
  now: number;
}

export interface FirstKeys {
  apiKey: string;
  adminKey: string;
}

/** Furnishes an empty database and returns its keys; `undefined` where there are accounts already. Of several at once one does it. */
export async function firstStart(store: Store, options: FirstStartOptions): Promise<FirstKeys | undefined> {
  const { credit, now } = options;
  if ((await store.accounts({ limit: 1 })).length > 0) return undefined;
  const account = newId('acct_');
  const caller = newKey('caller', options.apiKey);
  const admin = newKey('admin', options.adminKey);
  const keys = [caller.row, admin.row];
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
  return begun ? { apiKey: caller.key, adminKey: admin.key } : undefined;

  function newKey(kind: KeyKind, given: string | undefined): { key: string; row: KeyRow } {
    const { key, hash, last4 } = issueKey(kind, given);
    return { key, row: { id: newId('key_'), account, kind, name: 'first start', hash, last4, createdAt: now } };
  }
}

/** The keys an operator gives in the environment open the gateway at every start, also after they were changed there. */
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
