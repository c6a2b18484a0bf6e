import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { createCredentialCipher } from './credential-cipher.ts';
import { openStore } from './open-store.ts';
import type { PeopleStore, PersonRow } from './people.ts';

const NOW = Date.UTC(2026, 4, 5, 12);
const person = (id: string, more: Partial<PersonRow> = {}): PersonRow => ({
  id,
  name: id,
  role: 'member',
  accounts: [],
  createdAt: NOW,
  ...more,
});
const session = (id: string, of: string, hash = `hash of ${id}`) => ({
  ...{ id, hash, person: of, way: 'password', at: NOW, seenAt: NOW, endsAt: NOW + 1000 },
  ...{ address: '127.0.0.1', agent: 'test' },
});
const sum = async (people: PeopleStore, subject: string) => (await people.failures([subject], 0)).get(subject)?.count;

describe.each(ENGINES)('people on $name', (engine) => {
  test('are found by id, address and identity, and both are unique', async () => {
    const { people } = (await freshStore(engine)).store;
    const ann = person('person_1', {
      ...{ email: 'ann@example.test', role: 'owner', accounts: ['acct_b', 'acct_a'] },
      oidc: { issuer: 'https://id.test', subject: '7' },
    });
    await people.createPerson(ann);
    await people.createPerson(person('person_2'));
    expect(await people.person('person_1')).toEqual(ann);
    expect(await people.personByEmail('ann@example.test')).toEqual(ann);
    expect(await people.personByOidc('https://id.test', '7')).toEqual(ann);
    expect(await people.personByOidc('https://other.test', '7')).toBeUndefined();
    expect((await people.people({ limit: 1, after: 'person_1' })).map(({ id }) => id)).toEqual(['person_2']);
    const twin = people.createPerson(person('person_3', { email: 'ann@example.test' }));
    await expect(twin).rejects.toMatchObject({ code: 'conflict', param: 'email' });
    await expect(people.updatePerson('person_2', { email: 'ann@example.test' })).rejects.toThrow('e-mail');
    expect(await people.updatePerson('person_1', { email: null, accounts: ['acct_c'] })).toEqual(
      person('person_1', { role: 'owner', accounts: ['acct_c'], oidc: ann.oidc ?? { issuer: '', subject: '' } }),
    );
  });

  test('the last owner stays, also if two owners are changed at the same time', async () => {
    const { people } = (await freshStore(engine)).store;
    await people.createPerson(person('person_1', { role: 'owner' }));
    await expect(people.updatePerson('person_1', { role: 'support' })).rejects.toThrow('last owner');
    await expect(people.updatePerson('person_1', { disabledAt: NOW })).rejects.toThrow('last owner');
    await expect(people.removePerson('person_1')).rejects.toThrow('last owner');
    await people.createPerson(person('person_2', { role: 'owner' }));
    const both = ['person_1', 'person_2'].map((id) => people.updatePerson(id, { role: 'member' }));
    const ended = await Promise.allSettled(both);
    expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect((await people.firstOwner())?.role).toBe('owner');
  });

  test('a session is found until it ends, and goes with its person', async () => {
    const { people } = (await freshStore(engine)).store;
    await people.createPerson(person('person_1'));
    for (const id of ['sess_1', 'sess_2', 'sess_3']) await people.createSession(session(id, 'person_1'));
    expect(await people.session('hash of sess_1', NOW)).toMatchObject({
      ...{ session: { id: 'sess_1', endsAt: NOW + 1000 }, person: { id: 'person_1', seenAt: NOW } },
    });
    expect(await people.session('hash of sess_1', NOW + 1000)).toBeUndefined();
    await people.seeSession('sess_2', NOW + 5);
    expect((await people.sessions('person_1', NOW)).map(({ id }) => id)).toEqual(['sess_2', 'sess_1', 'sess_3']);
    expect(await people.endSession('person_2', 'sess_1')).toBe(false);
    expect(await people.endSession('person_1', 'sess_1')).toBe(true);
    expect(await people.endSessions('person_1', 'sess_2')).toBe(1);
    await people.removePerson('person_1');
    expect(await people.session('hash of sess_2', NOW)).toBeUndefined();
  });

  test('a token, a step and a recovery code work once, also at the same time', async () => {
    const { people } = (await freshStore(engine)).store;
    await people.createPerson(person('person_1'));
    const token = { id: 't_1', kind: 'link', hash: 'h', person: 'person_1', body: '{}', createdAt: NOW };
    await people.putToken({ ...token, expiresAt: NOW + 10 });
    expect(await people.takeToken('invitation', 'h', NOW)).toBeUndefined();
    const taken = await Promise.all([0, 1, 2].map(() => people.takeToken('link', 'h', NOW)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await people.putToken({ ...token, expiresAt: NOW + 10 });
    expect(await people.takeToken('link', 'h', NOW + 10)).toBeUndefined();
    await people.setTotp('person_1', 'SECRET');
    expect(await people.person('person_1')).toMatchObject({ totpPending: 'SECRET' });
    await people.updatePerson('person_1', { recoveryCodes: ['a', 'b'] });
    const steps = await Promise.all([0, 1].map(() => people.useTotpStep('person_1', 5)));
    expect(steps.toSorted()).toEqual([false, true]);
    expect(await people.useTotpStep('person_1', 4)).toBe(false);
    const codes = await Promise.all([0, 1].map(() => people.useRecoveryCode('person_1', 'a')));
    expect(codes.toSorted()).toEqual([false, true]);
    expect((await people.person('person_1'))?.recoveryCodes).toEqual(['b']);
  });

  test('a credential belongs to one passkey, and a counter that was changed elsewhere is refused', async () => {
    const { people } = (await freshStore(engine)).store;
    await people.createPerson(person('person_1'));
    const passkey = {
      ...{ id: 'pass_1', person: 'person_1', credential: 'c', publicKey: 'k', counter: 3 },
      ...{ host: 'models.test', isSyncable: true, isSynced: false },
      ...{ transports: ['usb'], name: 'key', createdAt: NOW },
    };
    await people.addPasskey(passkey);
    expect(await people.passkeyOf('c')).toEqual(passkey);
    await expect(people.addPasskey({ ...passkey, id: 'pass_2' })).rejects.toMatchObject({ code: 'conflict' });
    const used = { counter: 4, isSynced: true };
    expect(await people.usePasskey('pass_1', 3, used, NOW)).toBe(true);
    expect(await people.usePasskey('pass_1', 3, used, NOW)).toBe(false);
    expect(await people.passkeyOf('c')).toEqual({ ...passkey, ...used, usedAt: NOW });
    expect(await people.renamePasskey('person_2', 'pass_1', 'mine')).toBeUndefined();
    expect(await people.removePasskey('person_2', 'pass_1')).toBe(false);
    await expect(people.removePasskey('person_1', 'pass_1')).rejects.toMatchObject({ code: 'conflict' });
    await people.updatePerson('person_1', { passwordHash: 'hash' });
    expect(await people.removePasskey('person_1', 'pass_1')).toBe(true);
  });

  test('failures are counted in their time, and what has ended is removed', async () => {
    const { people } = (await freshStore(engine)).store;
    await people.addFailures(['a', 'b'], NOW, NOW - 10);
    await people.addFailures(['b'], NOW + 1, NOW - 9);
    expect([await sum(people, 'a'), await sum(people, 'b')]).toEqual([1, 2]);
    await people.addFailures(['b'], NOW + 50, NOW + 40);
    expect(await sum(people, 'b')).toBe(1);
    await people.clearFailures('a');
    expect(await sum(people, 'a')).toBeUndefined();
    await people.createPerson(person('person_1'));
    await people.createSession(session('sess_1', 'person_1'));
    await people.sweepPeople(NOW + 2 * 86_400_000);
    expect(await people.sessions('person_1', NOW)).toEqual([]);
    expect(await sum(people, 'b')).toBeUndefined();
  });

  test('second factors are encrypted, and again with a new key', async () => {
    const { settings } = await engine.freshDatabase();
    const keys = { current: 'old-key-0123456789-0123456789-0123', previous: [] as string[] };
    const cipher = createCredentialCipher({ read: () => keys, make: () => keys.current });
    const { people } = await openStore({ ...settings, cipher });
    await people.createPerson(person('person_1'));
    await people.setTotp('person_1', 'TOTPSECRET');
    await people.useTotpStep('person_1', 1);
    const read = async () => (await people.person('person_1')) ?? person('nobody');
    const before = (await read()).totpStored ?? '';
    expect(before).not.toContain('TOTPSECRET');
    expect(people.totpSecret(await read())).toBe('TOTPSECRET');
    expect(await people.reencryptPeople()).toBe(0);
    keys.previous = [keys.current];
    keys.current = 'new-key-0123456789-0123456789-0123';
    expect(await people.reencryptPeople()).toBe(1);
    keys.previous = [];
    expect(people.totpSecret(await read())).toBe('TOTPSECRET');
  });
});
