import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CATALOGUE, type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { newId } from '../canonical/id.ts';
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

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
  cookie: string;
}

async function ask(method: string, path: string, cookie: string, body?: object, more = {}): Promise<Answered> {
  const headers = { ...OWN, ...(cookie && { cookie }), ...more };
  const response = await edge.ask(method, path, { key: null, headers, ...(body && { body }) });
  const written = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { status: response.status, body: await response.json(), cookie: written };
}

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

  test('guessing is slowed down, the same for who exists and who does not, and others still get in', async () => {
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

test('an authenticator app is asked for once it is confirmed; a code and a recovery code work once', async () => {
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

describe("a member's own account", () => {
  test('shows and changes what belongs to it and nothing of another', async () => {
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
    const asked = (headers: object, path = '/console/v1/balance') => ask('GET', path, cookie, undefined, headers);
    expect((await asked({})).status).toBe(404);
    expect((await asked({ 'modelport-playground-key': foreign.id })).status).toBe(404);
    expect((await asked(named, '/console/v1/none')).status).toBe(404);
    expect((await asked(named, '/console/v1/../../admin/v1/keys')).status).toBe(403);
    const crossing = { ...named, 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' };
    expect((await asked(crossing)).status).toBe(403);
    expect((await ask('GET', '/console/v1/balance', '', undefined, named)).status).toBe(401);
    await edge.admin('POST', `/keys/${key}/disable`);
    expect((await asked(named)).status).toBe(401);
    const theirs = await ask('POST', '/console/api/playground', cookie, { account: other.id });
    expect(theirs.status).toBe(404);
    const operator = await newMember([], 'operator');
    expect((await ask('POST', '/console/api/playground', operator.cookie, { account: other.id })).status).toBe(200);
    const support = await newMember([], 'support');
    expect((await ask('POST', '/console/api/playground', support.cookie, { account: other.id })).status).toBe(404);
  });
});
