import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { type DeviceKey, newPasskeyDevice } from '../../test/helpers/passkey-device.ts';
import type { PersonRow, SessionRow } from '../store/people.ts';
import { createPasskeys } from './passkeys.ts';
import { canUsePasskeys, relyingPartyOf } from './relying-party.ts';
import { createWebauthn } from './webauthn.ts';

const HERE = { host: 'models.example.test', origin: 'https://models.example.test' };
const FAILED = { code: 'sign_in_failed' };
const MINUTES = 60_000;
/** Loaded once for all tests. */
const webauthn = createWebauthn();

/** `expect().rejects` waits without taking messages of threads. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ resolved: value }),
    (thrown: unknown) => thrown,
  );

describe.each(ENGINES)('passkeys on $name', (engine) => {
  async function start(kind?: DeviceKey) {
    const clock = { now: Date.UTC(2026, 4, 5, 12) };
    const { people } = (await freshStore(engine)).store;
    const passkeys = createPasskeys(people, () => clock.now, webauthn);
    const newMe = async (id: string) => {
      const person: PersonRow = { id, name: 'Ann', role: 'member', accounts: [], createdAt: clock.now };
      await people.createPerson(person);
      return { person, session: { id: `session_of_${id}` } as SessionRow };
    };
    const me = await newMe('person_1');
    const add = async (device = newPasskeyDevice(HERE.origin, kind), whose = me) => {
      const { options, ceremony } = await passkeys.startAdding(whose, HERE);
      return passkeys.add(whose, { ceremony, response: device.create(options), name: 'Laptop' });
    };
    const device = newPasskeyDevice(HERE.origin, kind);
    const passkey = await add(device);
    const signIn = async (change: (response: ReturnType<typeof device.get>) => unknown = () => undefined) => {
      const begun = await passkeys.startSignIn(HERE);
      const response = device.get(begun.options);
      change(response);
      return passkeys.signIn({ ceremony: begun.ceremony, response });
    };
    return { clock, people, passkeys, newMe, me, add, device, passkey, signIn };
  }

  test.each(['ES256', 'EdDSA', 'RS256'] as const)(
    'one with %s is added and signs in; its counter is kept',
    async (kind) => {
      const { clock, people, me, device, passkey, signIn } = await start(kind);
      expect(await people.passkeys(me.person.id)).toEqual([passkey]);
      expect(passkey).toMatchObject({ name: 'Laptop', host: HERE.host, transports: ['internal'], counter: 0 });
      expect(passkey).toMatchObject({ isSyncable: false, isSynced: false });
      clock.now += 1000;
      expect((await signIn()).person).toMatchObject({ id: me.person.id });
      expect((await signIn()).person).toMatchObject({ id: me.person.id });
      expect(await people.passkeys(me.person.id)).toEqual([{ ...passkey, counter: 2, usedAt: clock.now }]);
      device.counter -= 2;
      expect(await failure(signIn())).toMatchObject(FAILED);
      expect(await failure(signIn())).toMatchObject(FAILED);
      expect((await signIn()).passkey.counter).toBe(2);
    },
  );

  test('one that is copied to other devices does not count; whether it may be copied never changes', async () => {
    const { people, me, add, device, signIn } = await start();
    const synced = Object.assign(newPasskeyDevice(HERE.origin), { counts: false, isSyncable: true });
    const passkey = await add(synced);
    expect(passkey).toMatchObject({ counter: 0, isSyncable: true, isSynced: false });
    expect(await failure(signIn((it) => Object.assign(it, synced.get({ challenge: '' }))))).toMatchObject(FAILED);
    synced.isSynced = true;
    const passkeys = createPasskeys(people, Date.now, webauthn);
    for (let i = 0; i < 2; i++) {
      const begun = await passkeys.startSignIn(HERE);
      await passkeys.signIn({ ceremony: begun.ceremony, response: synced.get(begun.options) });
    }
    expect(await people.passkeyOf(passkey.credential)).toMatchObject({ counter: 0, isSynced: true });
    device.isSyncable = true;
    expect(await failure(signIn())).toMatchObject(FAILED);
    expect((await people.passkeys(me.person.id)).length).toBe(2);
  });

  test('a ceremony works once, for five minutes, and for its own purpose, person and session', async () => {
    const { clock, people, passkeys, newMe, me, device } = await start();
    const { options, ceremony } = await passkeys.startSignIn(HERE);
    const rows = await people.tokens('passkey-sign-in', clock.now, { limit: 9 });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(ceremony);
    expect(options.challenge).not.toBe(ceremony);
    const answer = { ceremony, response: device.get(options) };
    const all = await Promise.allSettled([passkeys.signIn(answer), passkeys.signIn(answer)]);
    expect(all.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await failure(passkeys.signIn(answer))).toMatchObject(FAILED);
    // The challenge alone, which is in the answer, does not finish a ceremony, and an old answer does not fit a new one.
    const next = await passkeys.startSignIn(HERE);
    const replayed = { ceremony: next.options.challenge, response: device.get(next.options) };
    expect(await failure(passkeys.signIn(replayed))).toMatchObject(FAILED);
    expect(await failure(passkeys.signIn({ ...answer, ceremony: next.ceremony }))).toMatchObject(FAILED);
    const late = await passkeys.startSignIn(HERE);
    clock.now += 5 * MINUTES;
    const response = device.get(late.options);
    expect(await failure(passkeys.signIn({ ceremony: late.ceremony, response }))).toMatchObject(FAILED);
    const adding = await passkeys.startAdding(me, HERE);
    expect(adding.options.excludeCredentials).toHaveLength(1);
    expect(
      await failure(passkeys.signIn({ ceremony: adding.ceremony, response: device.get(adding.options) })),
    ).toMatchObject(FAILED);
    for (const other of [await newMe('person_2'), { ...me, session: { ...me.session, id: 'session_other' } }]) {
      const begun = await passkeys.startAdding(me, HERE);
      const stolen = { response: newPasskeyDevice(HERE.origin).create(begun.options), name: 'x' };
      expect(await failure(passkeys.add(other, { ...stolen, ceremony: begun.ceremony }))).toMatchObject(FAILED);
      expect(await failure(passkeys.add(me, { ...stolen, ceremony: begun.ceremony }))).toMatchObject(FAILED);
    }
  });

  test('another origin, host or frame, a person who was not verified, and a forged answer are refused', async () => {
    const { people, passkeys, newMe, me, add, device, passkey, signIn } = await start();
    await signIn();
    const broken: [keyof typeof device, unknown][] = [
      ['origin', 'https://evil.test'],
      ['origin', 'https://models.example.test.evil.test'],
      ['origin', 'http://models.example.test'],
      ['crossOrigin', true],
      ['isVerified', false],
      ['type', 'webauthn.create'],
      ['userHandle', null],
      ['userHandle', Buffer.from('person_2').toString('base64url')],
    ];
    for (const [member, value] of broken) {
      const right = device[member];
      Object.assign(device, { [member]: value });
      expect(await failure(signIn().then(() => member))).toMatchObject(FAILED);
      Object.assign(device, { [member]: right });
    }
    const begun = await passkeys.startSignIn(HERE);
    const elsewhere = device.get({ ...begun.options, rpId: 'evil.test' });
    expect(await failure(passkeys.signIn({ ceremony: begun.ceremony, response: elsewhere }))).toMatchObject(FAILED);
    // Made for this host, shown at another one that the gateway answers for.
    const there = await passkeys.startSignIn({ host: 'other.test', origin: 'https://other.test' });
    const moved = Object.assign(device, { origin: 'https://other.test' }).get(there.options);
    expect(await failure(passkeys.signIn({ ceremony: there.ceremony, response: moved }))).toMatchObject(FAILED);
    device.origin = HERE.origin;
    const other = newPasskeyDevice(HERE.origin);
    const { id } = await add(other, await newMe('person_2'));
    // Another person's credential, and a signature of another key.
    const { credential } = (await people.passkeys('person_2'))[0] ?? {};
    expect(await failure(signIn((it) => Object.assign(it, { id: credential, rawId: credential })))).toMatchObject(
      FAILED,
    );
    const forged = other.get({ challenge: '', rpId: HERE.host }).response.signature;
    expect(await failure(signIn((it) => Object.assign(it.response, { signature: forged })))).toMatchObject(FAILED);
    for (const member of ['signature', 'authenticatorData', 'clientDataJSON'])
      for (const text of ['%', '', 'AAAA'])
        expect(await failure(signIn((it) => Object.assign(it.response, { [member]: text })))).toMatchObject(FAILED);
    await people.updatePerson(me.person.id, { disabledAt: 1 });
    expect(await failure(signIn())).toMatchObject(FAILED);
    await people.updatePerson(me.person.id, { disabledAt: null });
    expect((await signIn()).person).toMatchObject({ id: me.person.id });
    await people.updatePerson(me.person.id, { passwordHash: 'hash' });
    await people.removePasskey(me.person.id, passkey.id);
    expect(await failure(signIn())).toMatchObject(FAILED);
    expect((await people.passkeys('person_2')).map((one) => one.id)).toEqual([id]);
  });

  test('a new one needs a verified person at this origin, and its manufacturer is not read', async () => {
    const { passkeys, me, add } = await start();
    for (const change of [
      { isVerified: false },
      { origin: 'https://evil.test' },
      { crossOrigin: true },
      { padding: 1600 },
    ])
      expect(await failure(add(Object.assign(newPasskeyDevice(HERE.origin), change)))).toMatchObject(FAILED);
    const { options, ceremony } = await passkeys.startAdding(me, HERE);
    expect(options.pubKeyCredParams.map(({ alg }) => alg)).toEqual([-8, -7, -257]);
    const response = newPasskeyDevice(HERE.origin).create(options, 'packed', new Map([['x5c', 'not a certificate']]));
    expect(await passkeys.add(me, { ceremony, response, name: 'Key' })).toMatchObject({ name: 'Key' });
    const again = await passkeys.startAdding(me, HERE);
    const broken = newPasskeyDevice(HERE.origin).create(again.options);
    broken.response.attestationObject = 'AAAA';
    const answer = { ceremony: again.ceremony, response: broken, name: 'Key' };
    expect(await failure(passkeys.add(me, answer))).toMatchObject(FAILED);
  });

  test('concurrent removals leave one way to sign in', async () => {
    const { people, me, passkey, add } = await start();
    const second = await add(newPasskeyDevice(HERE.origin));
    const removals = await Promise.allSettled(
      [passkey, second].map(({ id }) => people.removePasskey(me.person.id, id)),
    );
    expect(removals.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [left] = await people.passkeys(me.person.id);
    await people.updatePerson(me.person.id, { passwordHash: 'hash' });
    const both = [
      people.removePasskey(me.person.id, left?.id ?? ''),
      people.updatePerson(me.person.id, { passwordHash: null }),
    ];
    const ends = await Promise.allSettled<unknown>(both);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const rejected = ends.find((one) => one.status === 'rejected');
    expect(rejected?.reason).toMatchObject({ code: 'conflict' });
    const person = await people.person(me.person.id);
    const ways = [person?.passwordHash, ...(await people.passkeys(me.person.id))].filter((way) => way !== undefined);
    expect(ways).toHaveLength(1);
  });

  test('a confirmation is of an own passkey, and counts once, for its session and for five minutes', async () => {
    const { clock, passkeys, newMe, me, add, device } = await start();
    const other = await newMe('person_2');
    expect(await failure(passkeys.startConfirming(other, HERE))).toMatchObject({ code: 'conflict' });
    await add(newPasskeyDevice(HERE.origin), other);
    const elsewhere = { ...me, session: { ...me.session, id: 'session_other' } };
    const confirm = async (as = me) => {
      const { options, ceremony } = await passkeys.startConfirming(as, HERE);
      return passkeys.confirm(as, { ceremony, response: device.get(options) });
    };
    expect(await failure(confirm(other))).toMatchObject(FAILED);
    const { options, ceremony } = await passkeys.startConfirming(me, HERE);
    const answer = { ceremony, response: device.get(options) };
    expect(await failure(passkeys.confirm(elsewhere, answer))).toMatchObject(FAILED);
    expect(await failure(passkeys.confirm(me, answer))).toMatchObject(FAILED);
    const [first, second, third] = [await confirm(), await confirm(), await confirm()];
    expect(await passkeys.useConfirmation(me, first.confirmation)).toBe(true);
    expect(await passkeys.useConfirmation(me, first.confirmation)).toBe(false);
    expect(await passkeys.useConfirmation(elsewhere, second.confirmation)).toBe(false);
    clock.now += 5 * MINUTES;
    expect(await passkeys.useConfirmation(me, third.confirmation)).toBe(false);
  });
});

test('the library is loaded by the first verification, and unloaded when it is not needed', async () => {
  const { people } = (await freshStore(ENGINES[0] as (typeof ENGINES)[number])).store;
  const webauthn = createWebauthn({ idleMs: 1 });
  const passkeys = createPasskeys(people, Date.now, webauthn);
  const person: PersonRow = { id: 'person_1', name: 'Ann', role: 'member', accounts: [], createdAt: 0 };
  const me = { person, session: { id: 'session_1' } as SessionRow };
  const { options, ceremony } = await passkeys.startAdding(me, HERE);
  await passkeys.startSignIn(HERE);
  expect(webauthn.isLoaded).toBe(false);
  const response = newPasskeyDevice(HERE.origin).create(options);
  const added = passkeys.add(me, { ceremony, response, name: 'x' });
  while (!webauthn.isLoaded) await Bun.sleep(1);
  await added;
  while (webauthn.isLoaded) await Bun.sleep(1);
});

test('passkeys count for the name of a host on TLS, and for localhost', () => {
  const party = (origin: string, publicUrl?: string) => {
    try {
      return relyingPartyOf(new Headers({ origin, host: 'host.evil.test' }), publicUrl);
    } catch {
      return undefined;
    }
  };
  expect(party('https://a.test:8443')).toEqual({ host: 'a.test', origin: 'https://a.test:8443' });
  expect(party('http://localhost:8080')?.host).toBe('localhost');
  for (const origin of ['http://a.test', 'https://127.0.0.1', 'https://[::1]', 'null', ''])
    expect(party(origin)).toBeUndefined();
  expect(party('https://a.test', 'https://a.test/')?.host).toBe('a.test');
  for (const other of ['https://evil.test', 'https://a.test:8443', 'http://localhost:8080', 'https://b.a.test'])
    expect(party(other, 'https://a.test')).toBeUndefined();
  expect(party('http://a.test', 'http://a.test')).toBeUndefined();
});

test('they are offered where the browser could use them', () => {
  const can = (host: string, isOnTls = false, publicUrl?: string, more = {}) =>
    canUsePasskeys(new Headers({ host, ...more }), isOnTls, publicUrl);
  expect([can('a.test'), can('a.test', true), can('localhost:8080')]).toEqual([false, true, true]);
  expect(can('a.test', false, undefined, { 'sec-fetch-site': 'same-origin' })).toBe(true);
  expect([can('127.0.0.1', true), can('[::1]', true), can('', true)]).toEqual([false, false, false]);
  expect([can('inside', false, 'https://a.test'), can('a.test', false, 'http://a.test')]).toEqual([true, false]);
});
