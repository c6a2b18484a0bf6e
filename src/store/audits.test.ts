import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { ModelRow, ProviderRow } from './catalog-rows.ts';
import type { AccountRow, Audit, CodeRow, KeyRow, LedgerStep } from './rows.ts';
import type { Store } from './store.ts';

const NOON = Date.UTC(2026, 4, 5, 12);
const EMPTY = { balance: 0n, held: 0n, createdAt: NOON };
const ACCOUNT: AccountRow = { id: 'acc_1', name: 'one', ...EMPTY };
const KEY: KeyRow = {
  id: 'key_1',
  account: 'acc_1',
  kind: 'caller',
  name: 'n',
  hash: 'h',
  last4: 'last',
  createdAt: NOON,
};
const CODE: CodeRow = { id: 'code_1', hash: 'c', last4: 'last', amount: 5n, createdAt: NOON };
const PROVIDER: ProviderRow = { name: 'p', type: 't', credentials: [], settings: {} };
const MODEL: ModelRow = {
  name: 'm',
  kind: 'chat',
  priceId: 'price_1',
  ownedBy: 'x',
  onDisconnect: 'abort',
  createdAt: NOON,
  targets: [],
};

const audit =
  (action: string): Audit<object> =>
  (before, after) => ({
    id: crypto.randomUUID(),
    at: NOON,
    actor: 'cli',
    action,
    subject: `${before ? 'was' : 'new'}, ${after ? 'is' : 'gone'}`,
  });
const enter = (callId?: string) => ({
  type: 'enter' as const,
  account: 'acc_0',
  kind: 'top-up' as const,
  amount: 7n,
  counter: 'cash',
  idempotencyKey: 'once',
  at: NOON,
  audit: audit('entered'),
  ...(callId !== undefined && { callId }),
});
const redeem: LedgerStep = {
  type: 'redeem',
  account: 'acc_0',
  hash: 'old',
  counter: 'codes',
  at: NOON,
  audit: audit('redeemed'),
};

/** Every change that an admin can make. Each works on what the previous ones left. */
const CHANGES: { readonly [name: string]: (store: Store) => Promise<unknown> } = {
  'account made': (store) => store.createAccount(ACCOUNT, audit('account made')),
  'account changed': (store) => store.updateAccount('acc_0', { disabledAt: NOON }, audit('account changed')),
  'key made': (store) => store.createKey({ ...KEY, account: 'acc_0' }, audit('key made')),
  'key changed': (store) => store.updateKey('key_0', { name: 'other' }, audit('key changed')),
  'key removed': (store) => store.removeKey('key_0', audit('key removed')),
  'code made': (store) => store.createCode(CODE, audit('code made')),
  'provider saved': (store) => store.saveProvider(PROVIDER, audit('provider saved')),
  'provider removed': (store) => store.removeProvider('p0', audit('provider removed')),
  'model saved': (store) => store.saveModel(MODEL, audit('model saved')),
  'model removed': (store) => store.removeModel('m0', audit('model removed')),
  entered: (store) => store.ledger([enter()]),
  redeemed: (store) => store.ledger([redeem]),
};

/** Everything except the generation: a failed change may increase it. */
async function everything(store: Store): Promise<unknown> {
  const page = { limit: 100 };
  return Promise.all([
    store.accounts(page),
    store.keys(page),
    store.codes(page),
    store.providers(),
    store.models(),
    store.entries('acc_0', page),
  ]);
}

async function filled(store: Store): Promise<void> {
  await store.createAccount({ ...ACCOUNT, id: 'acc_0', name: 'zero' });
  await store.createKey({ ...KEY, id: 'key_0', account: 'acc_0', hash: 'h0' });
  await store.createCode({ ...CODE, id: 'code_0', hash: 'old' });
  await store.saveProvider({ ...PROVIDER, name: 'p0' });
  await store.saveModel({ ...MODEL, name: 'm0' });
  // Reads the account first. Otherwise Postgres writes from cached values and reads nothing.
  await store.ledger([{ type: 'enter', account: 'acc_0', kind: 'top-up', amount: 1n, counter: 'cash', at: NOON }]);
}

describe.each(ENGINES)('the audit log over $name', (engine) => {
  test('a change whose audit row cannot be written is undone, and otherwise there is one audit row per change', async () => {
    const { store, tamper } = await freshStore(engine);
    await filled(store);
    const before = await everything(store);
    await tamper('ALTER TABLE audits RENAME TO elsewhere');
    for (const [name, change] of Object.entries(CHANGES)) {
      await expect(change(store), name).rejects.toBeDefined();
      expect(await everything(store), name).toEqual(before);
    }
    const { idempotencyKey: _, ...anew } = enter();
    await expect(store.ledger([anew])).rejects.toBeDefined();
    expect(await everything(store)).toEqual(before);

    await tamper('ALTER TABLE elsewhere RENAME TO audits');
    for (const change of Object.values(CHANGES)) await change(store);
    const records = await store.audits({ limit: 100 });
    expect(records.map(({ action }) => action).toReversed()).toEqual(Object.keys(CHANGES));
    expect(Object.fromEntries(records.map(({ action, subject }) => [action, subject]))).toEqual({
      'account made': 'new, is',
      'account changed': 'was, is',
      'key made': 'new, is',
      'key changed': 'was, is',
      'key removed': 'was, gone',
      'code made': 'new, is',
      'provider saved': 'new, is',
      'provider removed': 'was, gone',
      'model saved': 'new, is',
      'model removed': 'was, gone',
      entered: 'new, is',
      redeemed: 'new, is',
    });
    expect((await store.verify()).faults).toEqual([]);
    await store.close();
  });

  test('a change without effect is not in the audit log', async () => {
    const { store } = await freshStore(engine);
    await filled(store);
    for (const step of [enter(), enter(), redeem, redeem]) await store.ledger([step]);
    await store.ledger([enter('call_nobody_made')]);
    await store.updateKey('nobody', { name: 'x' }, audit('key changed'));
    await store.removeModel('nothing', audit('model removed'));
    const twin = store.createAccount({ ...ACCOUNT, name: 'zero' }, audit('account made'));
    await expect(twin).rejects.toMatchObject({ code: 'conflict' });
    expect((await store.audits({ limit: 100 })).map(({ action }) => action)).toEqual(['redeemed', 'entered']);
    await store.close();
  });

  test('two concurrent changes each record the values that they replaced', async () => {
    const { store } = await freshStore(engine);
    await filled(store);
    const names = Array.from({ length: 8 }, (_, index) => `name ${index}`);
    const renamed: Audit<KeyRow> = (from, to) => ({
      ...audit('renamed')(from, to),
      before: JSON.stringify(from?.name),
      after: JSON.stringify(to?.name),
    });
    await Promise.all(names.map((name) => store.updateKey('key_0', { name }, renamed)));
    const records = (await store.audits({ limit: 100 })).toReversed();
    const met = records.map(({ before = '' }) => JSON.parse(before));
    const left = records.map(({ after = '' }) => JSON.parse(after));
    expect(met).toEqual(['n', ...left.slice(0, -1)]);
    expect(left.toSorted()).toEqual(names);
    await store.close();
  });
});
