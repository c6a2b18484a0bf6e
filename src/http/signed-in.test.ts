import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import {
  FOREIGN_ORIGINS as foreign,
  hasBody,
  OWN_ORIGIN as OWN,
  ROUTES_OF_PEOPLE as ROUTES,
} from '../../test/helpers/routes-of-people.ts';
import { PERMISSIONS_OF, ROLES, type Role } from '../access/permissions.ts';
import { newId } from '../canonical/id.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

async function newPerson(role: Role): Promise<string> {
  const id = newId('person_');
  await edge.store.people.createPerson({ id, name: id, role, accounts: [edge.account], createdAt: Date.now() });
  return id;
}

/** The cookie of a new session. */
async function signedIn(person: string): Promise<string> {
  const { people } = edge.deps;
  if (!people) throw new Error('no console');
  const { secret } = await people.sessions.begin({ id: person }, 'link', { address: '127.0.0.1', agent: 'test' });
  return `modelport_session=${secret}`;
}

const ask = (method: string, path: string, headers: { [name: string]: string }, body?: object) =>
  edge.ask(method, path, { key: null, headers, ...(body && { body }) });
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;
const cookieOf = (response: Response) => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

async function newLink(): Promise<string> {
  const { body } = await edge.admin('POST', '/login-link');
  return String(body.path).replace('/console/#link=', '');
}

describe('each route with each role', () => {
  test.each(ROLES)('%s', async (role) => {
    const person = await newPerson(role);
    const wrong: string[] = [];
    for (const { method, asked, permission } of ROUTES) {
      const isAllowed = permission === undefined || PERMISSIONS_OF[role].has(permission);
      const headers = { cookie: await signedIn(person), ...OWN };
      const response = await ask(method, asked, headers, hasBody(method) ? {} : undefined);
      const isRefused = response.status === 403;
      const isPrivate = response.headers.get('cache-control') === 'no-store' || !response.ok;
      if (isRefused === isAllowed || response.status === 401 || response.status >= 500 || !isPrivate)
        wrong.push(`${method} ${asked}: ${response.status}`);
      if (isRefused) expect(await codeOf(response)).toBe('permission_denied');
    }
    expect(wrong).toEqual([]);
  });

  test('none without a session or with an unknown one', async () => {
    const wrong: string[] = [];
    for (const { method, asked, gate } of ROUTES) {
      const none = await ask(method, asked, OWN);
      const program = await ask(method, asked, {});
      const made = await ask(method, asked, { ...OWN, cookie: `modelport_session=${'a'.repeat(43)}` });
      const codes = [none.status, await codeOf(none), made.status, await codeOf(made)];
      const expected = [401, 'sign_in_required', 401, 'sign_in_required'];
      // A program has forgotten its key; a page of the console has lost its session.
      if (gate === 'admin' && (await codeOf(program)) !== 'invalid_api_key')
        wrong.push(`${method} ${asked}: a program`);
      if (!Bun.deepEquals(codes, expected)) wrong.push(`${method} ${asked}: ${codes}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('a session', () => {
  test('begins with a link that works once, and ends at sign-out', async () => {
    const token = await newLink();
    const opened = await ask('POST', '/console/api/sign-in/link', OWN, { token });
    expect(opened.status).toBe(200);
    const written = opened.headers.get('set-cookie') ?? '';
    expect(written).toMatch(/^modelport_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/);
    const cookie = cookieOf(opened);
    const session = (await (await ask('GET', '/console/api/session', { cookie })).json()) as object;
    expect(session).toMatchObject({
      person: { role: 'owner', needsSetup: true },
      account: { id: edge.account },
      session: { way: 'link' },
    });
    const again = await ask('POST', '/console/api/sign-in/link', OWN, { token });
    expect([again.status, await codeOf(again)]).toEqual([401, 'sign_in_failed']);
    expect((await ask('GET', '/admin/v1/accounts', { cookie })).status).toBe(200);
    expect((await ask('POST', '/console/api/sign-out', { ...OWN, cookie })).status).toBe(200);
    expect((await ask('GET', '/admin/v1/accounts', { cookie })).status).toBe(401);
    expect(await (await ask('GET', '/console/api/session', { cookie })).json()).toMatchObject({ person: null });
  });

  test('is a new one after each sign-in: a planted cookie opens nothing', async () => {
    const planted = await signedIn(await newPerson('member'));
    const opened = await ask(
      'POST',
      '/console/api/sign-in/link',
      { ...OWN, cookie: planted },
      { token: await newLink() },
    );
    expect(cookieOf(opened)).not.toBe(planted);
    expect((await ask('GET', '/console/api/sessions', { cookie: planted })).status).toBe(401);
  });

  test('can be ended elsewhere, by its person and by an admin, and by disabling the person', async () => {
    const person = await newPerson('support');
    const cookies = [await signedIn(person), await signedIn(person), await signedIn(person), await signedIn(person)];
    const states = () =>
      Promise.all(cookies.map(async (cookie) => (await ask('GET', '/console/api/sessions', { cookie })).status));
    const own = { ...OWN, cookie: cookies[0] ?? '' };
    const { data } = (await (await ask('GET', '/console/api/sessions', own)).json()) as {
      data: { id: string; current: boolean }[];
    };
    const other = await edge.store.people.sessions(await newPerson('member'), Date.now());
    expect(other).toEqual([]);
    const first = data.find(({ current }) => !current)?.id ?? '';
    expect((await ask('DELETE', `/console/api/sessions/${first}`, own)).status).toBe(200);
    expect((await states()).filter((status) => status === 401)).toHaveLength(1);
    expect(await (await ask('DELETE', '/console/api/sessions', own)).json()).toEqual({ removed: 2 });
    expect(await states()).toEqual([200, 401, 401, 401]);
    expect((await edge.admin('POST', `/people/${person}/sign-out`)).body).toEqual({ removed: 1 });
    expect(await states()).toEqual([401, 401, 401, 401]);
    cookies[0] = await signedIn(person);
    await edge.admin('POST', `/people/${person}/disable`);
    expect(await states()).toEqual([401, 401, 401, 401]);
    await edge.admin('POST', `/people/${person}/enable`);
    expect(await states()).toEqual([401, 401, 401, 401]);
  });

  test('loses what a new role does not allow, at once', async () => {
    const person = await newPerson('finance');
    const cookie = await signedIn(person);
    expect((await ask('GET', '/admin/v1/codes', { cookie })).status).toBe(200);
    await edge.admin('PATCH', `/people/${person}`, { role: 'member' });
    expect((await ask('GET', '/admin/v1/codes', { cookie })).status).toBe(403);
  });

  test('is the actor of changes, and shows people by name', async () => {
    const person = await newPerson('owner');
    const headers = { ...OWN, cookie: await signedIn(person) };
    const made = await ask('POST', '/admin/v1/accounts', headers, { name: `of ${person}` });
    const { id } = (await made.json()) as { id: string };
    const { data } = (await edge.admin('GET', `/audit?subject=${id}`)).body;
    expect(data).toMatchObject([{ action: 'account.created', actor: person }]);
  });
});

describe('a page of another origin', () => {
  test.each(Object.keys(foreign))('%s changes nothing and signs nobody in', async (what) => {
    const cookie = await signedIn(await newPerson('owner'));
    const headers = { ...foreign[what], cookie };
    const before = (await edge.admin('GET', '/accounts')).body.data.length;
    for (const [method, path] of [
      ['POST', '/admin/v1/accounts'],
      ['POST', '/console/api/sign-out'],
      ['DELETE', '/console/api/sessions'],
    ] as const) {
      const response = await ask(method, path, headers, { name: `by ${what}` });
      expect([response.status, await codeOf(response)]).toEqual([403, 'permission_denied']);
    }
    expect((await edge.admin('GET', '/accounts')).body.data).toHaveLength(before);
    const token = await newLink();
    expect((await ask('POST', '/console/api/sign-in/link', foreign[what] ?? {}, { token })).status).toBe(403);
    expect((await ask('POST', '/console/api/sign-in/link', OWN, { token })).status).toBe(200);
  });

  test('reads nothing, and gets no CORS headers', async () => {
    const cookie = await signedIn(await newPerson('owner'));
    const headers = { cookie, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
    const read = await ask('GET', '/admin/v1/accounts', headers);
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const session = await ask('GET', '/console/api/session', headers);
    expect(session.headers.get('access-control-allow-origin')).toBeNull();
    expect((await ask('OPTIONS', '/console/api/sign-out', headers)).status).toBe(405);
  });

  test('the page of the console itself may change things, also without sec-fetch-site', async () => {
    const cookie = await signedIn(await newPerson('owner'));
    const name = newId('shop ');
    expect((await ask('POST', '/admin/v1/accounts', { cookie, origin: edge.address }, { name })).status).toBe(200);
  });
});

test('a session opens no call, and a key no page of a person', async () => {
  const cookie = await signedIn(await newPerson('owner'));
  expect((await ask('GET', '/v1/balance', { cookie, ...OWN })).status).toBe(401);
  for (const key of [edge.adminKey, edge.callerKey])
    expect((await edge.ask('GET', '/console/api/sessions', { key })).status).toBe(401);
  const both = await edge.ask('GET', '/admin/v1/accounts', { key: edge.callerKey, headers: { cookie } });
  expect(both.status).toBe(403);
});

test('only an owner touches admin keys, in every way', async () => {
  const operator = { ...OWN, cookie: await signedIn(await newPerson('operator')) };
  const { data } = (await edge.admin('GET', '/keys')).body as { data: { id: string; kind: string }[] };
  const admin = data.find(({ kind }) => kind === 'admin')?.id;
  const requests: [string, string, object?][] = [
    ['POST', '', { kind: 'admin', name: 'mine', account: 'default' }],
    ['PATCH', `/${admin}`, { name: 'mine' }],
    ...['disable', 'enable'].map((word): [string, string] => ['POST', `/${admin}/${word}`]),
    ['POST', `/${admin}/rotate`, {}],
    ['DELETE', `/${admin}`],
  ];
  for (const [method, path, body] of requests)
    expect([path, (await ask(method, `/admin/v1/keys${path}`, operator, body)).status]).toEqual([path, 403]);
  expect((await edge.admin('GET', `/keys/${admin}`)).body).toMatchObject({ id: admin, name: 'test' });
  const made = await ask('POST', '/admin/v1/keys', operator, { name: 'mine', account: 'default' });
  expect(made.status).toBe(200);
});

test('a code made by a session with an Idempotency-Key cannot be computed without the session', async () => {
  const person = await newPerson('owner');
  const order = async (cookie: string, key: string) => {
    const response = await ask('POST', '/admin/v1/codes', { ...OWN, cookie, 'idempotency-key': key }, { amount: '1' });
    return ((await response.json()) as { code?: string }).code;
  };
  const cookie = await signedIn(person);
  const code = await order(cookie, 'spring');
  expect(await order(cookie, 'spring')).toBe(code);
  expect(await order(await signedIn(person), 'spring')).toBeUndefined();
});

test('without a console there are no sessions and no pages', async () => {
  const plain = await startLoopback(undefined, { hasConsole: false });
  try {
    expect((await plain.ask('GET', '/console/api/session', { key: null })).status).toBe(404);
    expect((await plain.admin('POST', '/login-link')).status).toBe(409);
    const cookie = await signedIn(await newPerson('owner'));
    expect((await plain.ask('GET', '/admin/v1/accounts', { key: null, headers: { cookie } })).status).toBe(401);
  } finally {
    await plain.stop();
  }
});

test('a member changes an own key only as it was when the change was checked', async () => {
  const cookie = await signedIn(await newPerson('member'));
  const own = (method: string, path: string, body: object) =>
    ask(method, `/console/api/account/keys${path}`, { ...OWN, cookie }, body);
  const { id } = (await (await own('POST', '', { name: 'raced', requestsPerMinute: 5 })).json()) as { id: string };
  const limitOf = async () => (await edge.admin('GET', `/keys/${id}`)).body.requestsPerMinute;
  const { store } = edge.deps;
  const { audits } = store;
  // An operator makes the limit stricter after the member's change was checked and before it is stored.
  store.audits = async (filter) => {
    const found = await audits(filter);
    store.audits = audits;
    await edge.admin('PATCH', `/keys/${id}`, { requestsPerMinute: 2 });
    return found;
  };
  const raced = await own('PATCH', `/${id}`, { requestsPerMinute: 50 });
  expect([raced.status, await codeOf(raced), await limitOf()]).toEqual([409, 'conflict', 2]);
  const again = await own('PATCH', `/${id}`, { requestsPerMinute: 50 });
  expect([again.status, await codeOf(again), await limitOf()]).toEqual([403, 'permission_denied', 2]);
  const stricter = await Promise.all([1, 2].map((limit) => own('PATCH', `/${id}`, { requestsPerMinute: limit })));
  expect(stricter.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  expect(stricter.every(({ status }) => status === 200 || status === 409)).toBe(true);
});

test('the page that the company sign-in leads back to is throttled', async () => {
  const oidc = {
    ...{ issuer: 'http://127.0.0.1:9', clientId: 'a', clientSecret: 'b', clientAuth: 'basic' as const, name: 'SSO' },
    ...{
      scope: 'openid',
      roleClaim: 'groups',
      domains: [],
      createsPeople: true,
      roles: [],
      redirectUri: 'http://127.0.0.1/',
    },
  };
  const now = Date.now();
  const other = await startLoopback(undefined, { oidc, peopleNow: () => now });
  try {
    const back = async (place: number) => {
      const state = String(place).padStart(43, 'a');
      const cookie = `modelport_oidc=${state}.${'b'.repeat(43)}.${'c'.repeat(43)}`;
      const url = `${other.address}/console/api/sign-in/oidc/callback?state=${state}&code=x`;
      return (await fetch(url, { redirect: 'manual', headers: { cookie } })).headers.get('location');
    };
    const ends = new Set<string | null>();
    for (let place = 0; place < 100; place++) ends.add(await back(place));
    expect(await back(100)).toBe('/console/#error=rate_limited');
    expect(ends).toContain('/console/#error=provider_unavailable');
  } finally {
    await other.stop();
  }
});
