/** The first start on an empty database: an account with credit, one caller key and one admin key, told once. */
import { issueKey } from './access/key.ts';
import { newId } from './canonical/id.ts';
import type { Money } from './canonical/money.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { KeyKind, Store } from './store/store.ts';

const ACCOUNT = 'default';

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

/** Furnishes an empty database and returns its keys; `undefined` where there are accounts already. */
export async function firstStart(
  store: Store,
  ledger: Ledger,
  options: FirstStartOptions,
): Promise<FirstKeys | undefined> {
  const { credit, now } = options;
  if ((await store.accounts({ limit: 1 })).length > 0) return undefined;
  const account = newId('acct_');
  await store.createAccount({ id: account, name: ACCOUNT, balance: 0n, held: 0n, createdAt: now });
  if (credit > 0n)
    await ledger.topUp(account, credit, { note: 'starting credit', idempotencyKey: `first-start:${account}`, at: now });
  return {
    apiKey: await createKey('caller', options.apiKey),
    adminKey: await createKey('admin', options.adminKey),
  };

  async function createKey(kind: KeyKind, given: string | undefined): Promise<string> {
    const { key, hash, last4 } = issueKey(kind, given);
    await store.createKey({ id: newId('key_'), account, kind, name: 'first start', hash, last4, createdAt: now });
    return key;
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
    await store.createKey({
      id: newId('key_'),
      account: account.id,
      kind,
      name: 'environment',
      hash,
      last4,
      createdAt: options.now,
    });
  }
}
