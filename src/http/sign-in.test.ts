import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CATALOGUE, type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { newPasskeyDevice } from '../../test/helpers/passkey-device.ts';
import { newId } from '../canonical/id.ts';
import { newSecret } from '../people/secrets.ts';
import { totpCode } from '../people/totp.ts';

/** The clock stands: waits do not end because the machine is slow. */
const STARTED = Date.now();
let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback(undefined, { peopleNow: () => STARTED });
  await edge.deps.apply(CATALOGUE, 'test');
  await edge.deps.catalog.reload();
});
afterAll(() => edge.stop());

const OWN = { 'sec-fetch-site': 'same-origin' };
const PASSWORD = 'correct horse battery';
const NEXT = 'another long password';

const ask: Loopback['page'] = (...request) => edge.page(...request);

/** A person who has followed the link of an invitation and set a password. */
async function newMember(accounts: string[], role = 'member') {
  const email = `${newId('p').toLowerCase()}@example.test`;
  const { body: person } = await edge.admin('POST', '/people', { name: email, role, email, accounts });
  const token = String(person.link.path).replace('/console/#link=', '');
  const { cookie } = await ask('POST', '/console/api/sign-in/link', '', { token });
  expect((await ask('PUT', '/console/api/password', cookie, { password: PASSWORD })).status).toBe(200);
  return { id: String(person.id), email, cookie };
}

const signIn = (email: string, password: string, code?: string) =>
  ask('POST', '/console/api/sign-in', '', { email, password, ...(code !== undefined && { code }) });

describe('a password', () => {
  test('signs in, in any letter case of the address, and a new one ends other sessions', async () => {
    const { email, cookie: first } = await newMember([edge.account]);
    const { status, cookie } = await signIn(email.toUpperCase(), PASSWORD);
    expect(status).toBe(200);
    const session = await ask('GET', '/console/api/session', cookie);
    expect(session.body).toMatchObject({ person: { email, needsSetup: false }, session: { way: 'password' } });
    expect((await ask('PUT', '/console/api/password', cookie, { password: NEXT })).status).toBe(401);
    const right = { password: NEXT, current: PASSWORD };
    expect((await ask('PUT', '/console/api/password', cookie, right)).body).toEqual({ changed: true });
    const states = await Promise.all([first, cookie].map((one) => ask('GET', '/console/api/sessions', one)));
    expect(states.map((one) => one.status)).toEqual([401, 200]);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
    const short = await ask('PUT', '/console/api/password', cookie, { password: 'short', current: NEXT });
    expect(short).toMatchObject({ status: 400, body: { error: { param: 'password' } } });
    const { data } = (await edge.admin('GET', `/audit?subject=${session.body.person.id}`)).body;
    expect(data.map(({ action }: { action: string }) => action)).toContain('person.password-changed');
    expect(JSON.stringify(data)).not.toContain('argon2');
  });

  test('a wrong one, an unknown person and a disabled one get the same answer', async () => {
    const known = await newMember([]);
    const disabled = await newMember([]);
    await edge.admin('POST', `/people/${disabled.id}/disable`);
    const answers = [
      await signIn(known.email, 'wrong password'),
      await signIn('nobody@example.test', 'wrong password'),
      await signIn(disabled.email, PASSWORD),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      answers.map(() => [401, { error: { ...answers[0]?.body.error, code: 'sign_in_failed' } }]),
    );
    const { data } = (await edge.admin('GET', '/audit?actor=sign-in&action=person.sign-in-failed&limit=3')).body;
    expect(data.map(({ subject }: { subject: string }) => subject)).toEqual([disabled.id, 'unknown', known.id]);
    expect(data[0].after).toMatchObject({ way: 'password', address: expect.any(String) });
    const written = JSON.stringify(data);
    for (const typed of ['wrong password', 'nobody@', PASSWORD]) expect(written).not.toContain(typed);
  });

  test('the audit log is searched by actor and action, and names people', async () => {
    const { id, email } = await newMember([]);
    await signIn(email, PASSWORD);
    const { name } = (await edge.admin('GET', `/people/${id}`)).body;
    const { data } = (await edge.admin('GET', `/audit?actor=${id}&action=person.signed-in`)).body;
    expect(data.length).toBeGreaterThan(0);
    for (const row of data) expect(row).toMatchObject({ actor: id, actorName: name, action: 'person.signed-in' });
    expect((await edge.admin('GET', `/audit?actor=${id}&action=key.created`)).body.data).toEqual([]);
  });

  test('guessing is slowed down equally for known and unknown people, and others can still sign in', async () => {
    const { email } = await newMember([]);
    const tries = async (name: string) => {
      const codes: number[] = [];
      for (let i = 0; i < 7; i++) codes.push((await signIn(name, 'wrong password')).status);
      return codes;
    };
    const slowed = [401, 401, 401, 401, 401, 429, 429];
    expect(await tries(email)).toEqual(slowed);
    expect(await tries('somebody@example.test')).toEqual(slowed);
    const refused = await edge.ask('POST', '/console/api/sign-in', {
      ...{ key: null, headers: OWN, body: { email, password: PASSWORD } },
    });
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    const other = await newMember([]);
    expect((await signIn(other.email, PASSWORD)).status).toBe(200);
  });

  test('guesses at the same time do not pass together', async () => {
    const { email } = await newMember([]);
    const all = await Promise.all(Array.from({ length: 12 }, () => signIn(email, 'wrong password')));
    expect(all.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
  });
});

test('an authenticator app is required once it is confirmed; a code and a recovery code work once', async () => {
  const { email, cookie, id } = await newMember([]);
  const { secret, uri } = (await ask('POST', '/console/api/totp', cookie)).body;
  expect(uri).toStartWith('otpauth://totp/');
  expect((await signIn(email, PASSWORD)).body).toEqual({ signedIn: true });
  const now = () => Math.floor(Date.now() / 30_000);
  const first = totpCode(secret, now());
  const confirmed = await ask('POST', '/console/api/totp/confirm', cookie, { code: first });
  expect(confirmed.body.recoveryCodes).toHaveLength(10);
  expect((await signIn(email, PASSWORD)).body).toEqual({ signedIn: false, needs: 'code' });
  expect((await signIn(email, PASSWORD, first)).status).toBe(401);
  expect((await ask('POST', '/console/api/totp', cookie)).status).toBe(409);
  const [recovery] = confirmed.body.recoveryCodes;
  expect((await signIn(email, PASSWORD, recovery)).body).toEqual({ signedIn: true });
  expect((await signIn(email, PASSWORD, recovery)).status).toBe(401);
  expect((await edge.admin('GET', `/people/${id}`)).body).toMatchObject({ hasTotp: true });
  const row = JSON.stringify((await edge.admin('GET', `/audit?subject=${id}`)).body);
  expect(row).not.toContain(secret);
  const code = confirmed.body.recoveryCodes[1];
  expect((await ask('DELETE', '/console/api/totp', cookie, { code })).body).toEqual({ removed: true });
  expect((await signIn(email, PASSWORD)).body).toEqual({ signedIn: true });
});

describe('a passkey', () => {
  const ORIGIN = 'http://localhost:8080';
  const from = { host: 'localhost:8080', origin: ORIGIN };
  const own = (cookie: string, method: string, path: string, body?: object) =>
    ask(method, `/console/api/passkeys${path}`, cookie, body, from);

  async function add(cookie: string, presence: object, device = newPasskeyDevice(ORIGIN)) {
    const begun = await own(cookie, 'POST', '/options', presence);
    if (begun.status !== 200) return { ...begun, device, answer: {} };
    const answer = { ceremony: begun.body.ceremony, response: device.create(begun.body.options), name: 'Laptop' };
    return { ...(await own(cookie, 'POST', '', answer)), device, answer };
  }

  async function use(device: Device, path = '/sign-in/passkey', cookie = '') {
    const { body } = await ask('POST', `/console/api${path}/options`, cookie, {}, from);
    const answer = { ceremony: body.ceremony, response: device.get(body.options) };
    return { ...(await ask('POST', `/console/api${path}`, cookie, answer, from)), answer };
  }
  type Device = ReturnType<typeof newPasskeyDevice>;

  const actionsOf = async (id: string): Promise<string[]> =>
    (await edge.admin('GET', `/audit?subject=${id}`)).body.data.map(({ action }: { action: string }) => action);

  test('is added with the password, signs in, is renamed and removed, and each change is in the audit log', async () => {
    const { id, email, cookie: old } = await newMember([]);
    const { cookie } = await signIn(email, PASSWORD);
    const shown = await ask('GET', '/console/api/session', '', undefined, from);
    expect(shown.body.ways).toMatchObject({ password: true, passkeys: true });
    expect((await add(cookie, {})).status).toBe(401);
    const added = await add(cookie, { current: PASSWORD });
    const { device } = added;
    expect(added.body).toMatchObject({ name: 'Laptop', host: 'localhost', isSynced: false, usedAt: null });
    expect((await own(cookie, 'POST', '', added.answer)).status).toBe(401);
    const signedIn = await use(device);
    expect(signedIn.body).toEqual({ signedIn: true });
    const session = (await ask('GET', '/console/api/session', signedIn.cookie)).body;
    expect(session).toMatchObject({ person: { id, passkeys: 1 }, session: { way: 'passkey' } });
    // What was used once signs nobody in again, here or elsewhere.
    const replayed = await ask('POST', '/console/api/sign-in/passkey', '', signedIn.answer, from);
    expect(replayed).toMatchObject({ status: 401, cookie: '', body: { error: { code: 'sign_in_failed' } } });
    const other = await newMember([]);
    const path = `/${added.body.id}`;
    expect((await own(other.cookie, 'PATCH', path, { name: 'x' })).status).toBe(404);
    expect((await own(other.cookie, 'DELETE', path)).status).toBe(404);
    expect((await own(cookie, 'PATCH', path, { name: 'Desk' })).body).toMatchObject({ name: 'Desk' });
    expect((await own(cookie, 'GET', '')).body.data).toMatchObject([{ id: added.body.id, name: 'Desk' }]);
    // Just signed in with the passkey: the password is not required.
    expect((await ask('DELETE', '/console/api/password', signedIn.cookie, {})).body).toEqual({ removed: true });
    expect((await own(cookie, 'DELETE', path)).status).toBe(409);
    expect((await ask('PUT', '/console/api/password', signedIn.cookie, { password: NEXT })).status).toBe(200);
    const thief = await use(device);
    expect((await own(signedIn.cookie, 'DELETE', path)).body).toEqual({ id: added.body.id, removed: true });
    // Sessions that were begun with the removed passkey have ended, and it begins no other.
    expect((await ask('GET', '/console/api/sessions', thief.cookie)).status).toBe(401);
    expect((await ask('GET', '/console/api/sessions', old)).status).toBe(401);
    expect((await use(device)).status).toBe(401);
    for (const one of ['added', 'renamed', 'removed']) expect(await actionsOf(id)).toContain(`person.passkey-${one}`);
    const { data } = (await edge.admin('GET', '/audit?actor=sign-in&action=person.sign-in-failed&limit=1')).body;
    expect(data[0].after).toMatchObject({ way: 'passkey', address: expect.any(String) });
  });

  test('confirms the presence of its person once, if the sign-in was long ago', async () => {
    const { id, cookie } = await newMember([]);
    const { device } = await add(cookie, { current: PASSWORD });
    expect((await ask('DELETE', '/console/api/password', cookie, { current: PASSWORD })).status).toBe(200);
    // A session of an hour ago.
    const { text, hash } = newSecret();
    const at = STARTED - 3_600_000;
    const times = { at, seenAt: STARTED, endsAt: STARTED + 3_600_000 };
    const row = { id: newId('session_'), hash, person: id, way: 'passkey', ...times, address: '', agent: '' };
    await edge.deps.store.people.createSession(row);
    const late = `modelport_session=${text}`;
    const setPassword = (presence: object, as = late) =>
      ask('PUT', '/console/api/password', as, { password: NEXT, ...presence });
    expect(await setPassword({})).toMatchObject({ status: 403, body: { error: { code: 'permission_denied' } } });
    expect((await add(late, {})).status).toBe(403);
    const { confirmation } = (await use(device, '/passkeys/confirm', late)).body;
    expect((await setPassword({ confirmation: 'another' })).status).toBe(401);
    expect((await setPassword({ confirmation })).status).toBe(200);
    expect((await setPassword({ confirmation })).status).toBe(401);
    const next = (await use(device, '/passkeys/confirm', late)).body;
    expect((await add(late, next)).status).toBe(400);
    expect((await add(late, { confirmation: next.confirmation })).status).toBe(200);
    // Another person's passkey confirms nothing, and a confirmation does not sign in.
    const other = await newMember([]);
    expect((await own(other.cookie, 'POST', '/confirm/options', {})).status).toBe(409);
    const { device: foreign } = await add(other.cookie, { current: PASSWORD });
    expect((await use(foreign, '/passkeys/confirm', late)).status).toBe(401);
    const { body } = await own(late, 'POST', '/confirm/options', {});
    const answer = { ceremony: body.ceremony, response: device.get(body.options) };
    expect((await ask('POST', '/console/api/sign-in/passkey', '', answer, from)).status).toBe(401);
    expect(await actionsOf(id)).toContain('person.passkey-confirmed');
  });

  test('needs a host with a name on TLS, and the console itself', async () => {
    const path = '/console/api/sign-in/passkey/options';
    const begin = (more: object) => ask('POST', path, '', {}, more);
    expect((await begin({ host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080' })).status).toBe(400);
    expect((await begin({ host: 'models.test', origin: 'http://models.test' })).status).toBe(400);
    expect((await begin({ host: 'models.test', origin: 'https://evil.test' })).status).toBe(403);
    expect((await begin({ host: 'models.test', 'x-forwarded-host': 'evil.test' })).status).toBe(400);
    const { body } = await begin({ host: 'models.test', origin: 'https://models.test' });
    expect(body.options.rpId).toBe('models.test');
    const answer = { ceremony: body.ceremony, response: newPasskeyDevice('').get(body.options) };
    const evil = { host: 'models.test', origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
    expect((await ask('POST', '/console/api/sign-in/passkey', '', answer, evil)).status).toBe(403);
  });

  test('ceremonies are bounded: an address and a person begin few that they do not finish', async () => {
    const { cookie } = await newMember([]);
    const at = { ...from, 'x-forwarded-for': '192.0.2.7' };
    const codes: number[] = [];
    for (let i = 0; i < 7; i++) codes.push((await own(cookie, 'POST', '/options', { current: PASSWORD })).status);
    expect(codes).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const begun: number[] = [];
    for (let i = 0; i < 8; i++)
      begun.push((await ask('POST', '/console/api/sign-in/passkey/options', '', {}, at)).status);
    expect(begun.at(-1)).toBe(429);
    const refused = await ask('POST', '/console/api/sign-in/passkey/options', '', {}, from);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  });
});

describe("a member's own account", () => {
  test('shows and changes only what belongs to it', async () => {
    const other = (await edge.admin('POST', '/accounts', { name: newId('other ') })).body;
    const foreign = (await edge.admin('POST', '/keys', { account: other.id, name: 'theirs' })).body;
    const mine = (await edge.admin('POST', '/accounts', { name: newId('mine ') })).body;
    const { cookie, email } = await newMember([mine.id]);
    const own = (method: string, path: string, body?: object) =>
      ask(method, `/console/api/account${path}`, cookie, body);
    expect((await own('GET', '')).body).toMatchObject({ id: mine.id, available: '0' });
    const made = await own('POST', '/keys', { name: 'laptop', kind: 'admin', account: other.id });
    expect(made).toMatchObject({ status: 200, body: { account: mine.id, kind: 'caller' } });
    expect((await own('GET', '/keys')).body.data).toMatchObject([{ id: made.body.id }]);
    const { code } = (await edge.admin('POST', '/codes', { amount: '2' })).body;
    expect((await own('POST', '/redeem', { code })).body).toMatchObject({ kind: 'redemption', amount: '2' });
    expect((await own('GET', '/entries')).body.data).toHaveLength(1);
    for (const path of ['/calls', '/usage']) expect([path, (await own('GET', path)).status]).toEqual([path, 200]);
    const changes: [string, string][] = [
      ['PATCH', ''],
      ['POST', '/disable'],
      ['POST', '/rotate'],
      ['DELETE', ''],
      ['GET', ''],
    ];
    for (const [method, path] of changes) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      expect((await own(method, `/keys/${foreign.id}${path}`, body)).status).toBe(404);
    }
    expect((await own('GET', `?account=${other.id}`)).status).toBe(404);
    expect((await own('GET', '/calls/req_none')).status).toBe(404);
    expect((await own('DELETE', `/keys/${made.body.id}`)).body).toMatchObject({ removed: true });
    expect((await ask('PATCH', '/console/api/profile', cookie, { language: 'zh' })).body).toMatchObject({
      ...{ email, language: 'zh' },
    });
  });
});

describe('keys of a member', () => {
  test('keep the limits that others have set, or get stricter ones', async () => {
    await edge.admin('PUT', '/price-groups/partners', { factor: '1.5' });
    const { id } = (await edge.admin('POST', '/accounts', { name: newId('limits '), priceGroup: 'partners' })).body;
    const limits = {
      budget: { total: '5', day: '0.3' },
      requestsPerMinute: 10,
      expiresAt: '2100-01-01T00:00:00Z',
      models: ['a', 'b'],
      addresses: ['10.0.0.0/8'],
      scopes: ['chat'],
      callerRouting: false,
    };
    const key = (await edge.admin('POST', '/keys', { account: id, name: 'theirs', ...limits })).body.id;
    const { cookie } = await newMember([id]);
    const own = (method: string, path: string, body?: object) =>
      ask(method, `/console/api/account${path}`, cookie, body);
    const shown = (await own('GET', '')).body;
    expect([shown.id, 'priceGroup' in shown, 'priceFactor' in shown]).toEqual([id, false, false]);
    const looser: [string, object][] = [
      ['budget', { budget: null }],
      ['budget', { budget: { total: '5.01', day: '0.3' } }],
      ['budget', { budget: { total: '5' } }],
      ['requestsPerMinute', { requestsPerMinute: 11 }],
      ['expiresAt', { expiresAt: null }],
      ['expiresAt', { expiresAt: '2100-01-02T00:00:00Z' }],
      ['models', { name: 'x', models: ['a', 'c'] }],
      ['addresses', { addresses: null }],
      ['scopes', { scopes: ['chat', 'images'] }],
      ['callerRouting', { callerRouting: true }],
      ['capture', { capture: 'full' }],
    ];
    for (const [param, body] of looser) {
      const { status, body: answer } = await own('PATCH', `/keys/${key}`, body);
      expect([body, status, answer.error?.code, answer.error?.param]).toEqual([body, 403, 'permission_denied', param]);
    }
    const stricter = {
      budget: { total: '4', day: '0.3', month: '4' },
      requestsPerMinute: 5,
      models: ['a'],
      concurrency: 3,
    };
    expect((await own('PATCH', `/keys/${key}`, stricter)).body).toMatchObject(stricter);
    // What a member has set may be taken back, up to what somebody else has set, and a key of one's own is free.
    expect((await own('PATCH', `/keys/${key}`, { requestsPerMinute: 6, concurrency: null })).status).toBe(200);
    const beyond = [{ requestsPerMinute: null }, { models: ['a', 'c'] }, { budget: '4' }, { aliases: { b: 'c' } }];
    for (const body of beyond) expect([body, (await own('PATCH', `/keys/${key}`, body)).status]).toEqual([body, 403]);
    const most = { requestsPerMinute: 10, models: ['a', 'b'], aliases: { other: 'c' } };
    expect((await own('PATCH', `/keys/${key}`, most)).body).toMatchObject(most);
    await edge.admin('PATCH', `/keys/${key}`, { requestsPerMinute: 7 });
    expect((await own('PATCH', `/keys/${key}`, { requestsPerMinute: 8 })).status).toBe(403);
    const mine = (await own('POST', '/keys', { name: 'mine', requestsPerMinute: 2 })).body.id;
    expect((await own('PATCH', `/keys/${mine}`, { requestsPerMinute: null })).status).toBe(200);
    expect((await own('POST', '/keys', { name: 'seen', capture: 'full' })).status).toBe(403);
    for (const [disabled, expected] of [
      [() => own('POST', `/keys/${mine}/disable`), 200],
      [() => edge.admin('POST', `/keys/${mine}/disable`), 403],
    ] as const) {
      await disabled();
      expect((await own('POST', `/keys/${mine}/enable`)).status).toBe(expected);
    }
    expect((await own('POST', `/keys/${mine}/disable`)).status).toBe(200);
    expect((await own('POST', `/keys/${mine}/enable`)).status).toBe(403);
  });
});

describe('the playground', () => {
  test('calls with a session, charged to a key that the person may use, and to no other', async () => {
    const other = (await edge.admin('POST', '/accounts', { name: newId('other ') })).body;
    const foreign = (await edge.admin('POST', '/keys', { account: other.id, name: 'theirs' })).body;
    const { cookie } = await newMember([edge.account]);
    const { key, account } = (await ask('POST', '/console/api/playground', cookie, {})).body;
    expect(account).toMatchObject({ id: edge.account });
    expect((await ask('POST', '/console/api/playground', cookie, {})).body.key).toBe(key);
    const named = { 'modelport-playground-key': key };
    expect((await ask('GET', '/console/v1/balance', cookie, undefined, named)).body).toMatchObject({ currency: 'USD' });
    expect((await ask('GET', '/console/v1/models', cookie, undefined, named)).body.data).toHaveLength(3);
    const get = (headers: object, path = '/console/v1/balance') => ask('GET', path, cookie, undefined, headers);
    expect((await get({})).status).toBe(404);
    expect((await get({ 'modelport-playground-key': foreign.id })).status).toBe(404);
    expect((await get(named, '/console/v1/none')).status).toBe(404);
    expect((await get(named, '/console/v1/../../admin/v1/keys')).status).toBe(403);
    const crossing = { ...named, 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' };
    expect((await get(crossing)).status).toBe(403);
    expect((await ask('GET', '/console/v1/balance', '', undefined, named)).status).toBe(401);
    await edge.admin('POST', `/keys/${key}/disable`);
    expect((await get(named)).status).toBe(401);
    const theirs = await ask('POST', '/console/api/playground', cookie, { account: other.id });
    expect(theirs.status).toBe(404);
    const operator = await newMember([], 'operator');
    expect((await ask('POST', '/console/api/playground', operator.cookie, { account: other.id })).status).toBe(200);
    const support = await newMember([], 'support');
    expect((await ask('POST', '/console/api/playground', support.cookie, { account: other.id })).status).toBe(404);
  });
});
