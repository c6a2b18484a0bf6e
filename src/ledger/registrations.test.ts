import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import type { NewRegistration } from '../store/registrations.ts';
import type { Store } from '../store/store.ts';
import { registrationCredit } from './starting-credit.ts';

const NOW = Date.UTC(2026, 4, 5, 12);
const DAY = 86_400_000;
const KIND = 'registration';
let last = 0;

async function putToken(store: Store, number: number, at: number): Promise<string> {
  const hash = `hash ${number}`;
  await store.people.putToken({ id: `reg_${number}`, kind: KIND, hash, body: '', createdAt: at, expiresAt: at + 1000 });
  return hash;
}

/** With a token of its own. */
async function newRegistration(
  store: Store,
  email: string,
  more: Partial<NewRegistration> = {},
): Promise<NewRegistration> {
  const at = more.at ?? NOW;
  const number = ++last;
  const hash = await putToken(store, number, at);
  const account = { id: `acct_${number}`, name: `${email} ${number}`, balance: 0n, held: 0n, createdAt: at };
  const person = { id: `person_${number}`, name: email, role: 'member', accounts: [account.id], createdAt: at, email };
  const steps = [registrationCredit(account.id, 5n, at, { idempotencyKey: `registration:${person.id}` })];
  const rows = { token: { kind: KIND, hash }, person, account, mailbox: email, credit: 5n, steps, audits: [], at };
  return { ...rows, most: { people: 100, credit: 1000n }, ...more };
}

const balance = async (store: Store, id: string) => (await store.account(id))?.balance;

describe.each(ENGINES)('registrations on $name', (engine) => {
  test('one address registered twenty times at once makes one person, one account and one credit', async () => {
    const { store } = await freshStore(engine);
    const all = await Promise.all(Array.from({ length: 20 }, () => newRegistration(store, 'ann@example.test')));
    const outcomes = await Promise.all(all.map((one) => store.register(one)));
    expect(outcomes.toSorted()).toEqual(['registered', ...all.slice(1).map(() => 'taken' as const)]);
    const accounts = await store.accounts({ limit: 100 });
    expect(accounts.map((one) => one.balance)).toEqual([5n]);
    expect(await store.people.people({ limit: 100 })).toMatchObject([{ accounts: [accounts[0]?.id] }]);
    expect(await store.entries(accounts[0]?.id ?? '', { limit: 10 })).toMatchObject([
      { kind: 'top-up', counter: 'starting-credit', amount: 5n, note: 'starting credit of a registration' },
    ]);
    expect(await store.verify()).toMatchObject({ faults: [] });
  });

  test('a token works once, and not after its end', async () => {
    const { store } = await freshStore(engine);
    const first = await newRegistration(store, 'ann@example.test');
    const same = { ...(await newRegistration(store, 'bob@example.test')), token: first.token };
    const outcomes = await Promise.all([store.register(first), store.register(same)]);
    expect(outcomes.toSorted()).toEqual(['registered', 'used']);
    const late = await newRegistration(store, 'eve@example.test');
    expect(await store.register({ ...late, at: NOW + 1000 })).toBe('used');
    expect(await store.accounts({ limit: 10 })).toHaveLength(1);
  });

  test('a mailbox gets its credit once, also after its person was removed', async () => {
    const { store } = await freshStore(engine);
    const first = await newRegistration(store, 'ann@example.test', { mailbox: 'ann' });
    expect(await store.register(first)).toBe('registered');
    const other = await newRegistration(store, 'ann+1@example.test', { mailbox: 'ann' });
    expect(await store.register(other)).toBe('registered');
    expect([await balance(store, first.account.id), await balance(store, other.account.id)]).toEqual([5n, 0n]);
    await store.people.removePerson(first.person.id);
    const again = await newRegistration(store, 'ann@example.test', { mailbox: 'ann' });
    expect(await store.register(again)).toBe('registered');
    expect(await balance(store, again.account.id)).toBe(0n);
    expect(await store.entries(again.account.id, { limit: 10 })).toEqual([]);
  });

  test('registrations at the same time do not pass the limits of the day together', async () => {
    const { store } = await freshStore(engine);
    const most = { people: 100, credit: 17n };
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) => newRegistration(store, `p${index}@example.test`, { most })),
    );
    const outcomes = await Promise.all(all.map((one) => store.register(one)));
    expect(outcomes.filter((outcome) => outcome === 'registered')).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === 'exhausted')).toHaveLength(7);
    const balances = (await store.accounts({ limit: 100 })).map((one) => one.balance);
    expect(balances).toEqual([5n, 5n, 5n]);
    const refused = all[outcomes.indexOf('exhausted')] as NewRegistration;
    // The token is left for the next day.
    const tomorrow = await newRegistration(store, refused.person.email, { most, at: NOW + DAY });
    expect(await store.register(tomorrow)).toBe('registered');
    const few = { most: { people: 1, credit: 1000n }, at: NOW + 2 * DAY };
    expect(await store.register(await newRegistration(store, 'x@example.test', few))).toBe('registered');
    expect(await store.register(await newRegistration(store, 'y@example.test', few))).toBe('exhausted');
    const dear = { most: { people: 9, credit: 4n }, at: NOW + 3 * DAY };
    expect(await store.register(await newRegistration(store, 'z@example.test', dear))).toBe('exhausted');
    expect(await store.verify()).toMatchObject({ faults: [] });
  });

  test('what breaks off leaves nothing behind, and the token works afterwards', async () => {
    const { store } = await freshStore(engine);
    const given = await newRegistration(store, 'ann@example.test');
    const twin = { ...given.account, id: 'acct_twin', name: 'twin' };
    await store.createAccount(twin);
    const broken: Partial<NewRegistration>[] = [
      { account: { ...given.account, name: 'twin' } },
      { person: { ...given.person, accounts: ['acct_a', 'acct_a'] } },
      {
        steps: [
          {
            ...{ type: 'enter', account: given.account.id, kind: 'top-up', amount: 5n, counter: 'x', at: NOW },
            audit: () => {
              throw new Error('stopped');
            },
          },
        ],
      },
    ];
    for (const change of broken) await expect(store.register({ ...given, ...change })).rejects.toThrow();
    expect(await store.people.people({ limit: 10 })).toEqual([]);
    expect((await store.accounts({ limit: 10 })).map(({ id }) => id)).toEqual([twin.id]);
    expect(await store.register(given)).toBe('registered');
    expect(await balance(store, given.account.id)).toBe(5n);
    expect(await store.verify()).toMatchObject({ faults: [] });
  });
});
