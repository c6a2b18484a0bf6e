/** Who may ask a real gateway for what with a session: every route with every role, forged origins, planted and copied cookies. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { PERMISSIONS_OF, ROLES, type Role } from '../../src/access/permissions.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { FOREIGN_ORIGINS, hasBody, OWN_ORIGIN, ROUTES_OF_PEOPLE } from '../helpers/routes-of-people.ts';

/** `test/system/console-postgres.test.ts` asks over Postgres. */
const databaseUrl = process.env.CONSOLE_DATABASE;

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway(databaseUrl === undefined ? {} : { environment: { DATABASE_URL: databaseUrl } });
  await gateway.newCaller();
}, 120_000);
afterAll(() => gateway?.stop());

const ask = (method: string, path: string, headers: { [name: string]: string }, body?: object) =>
  fetch(gateway.url + path, {
    ...{ method, redirect: 'manual', headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } },
    ...(body && { body: JSON.stringify(body) }),
  });
/** Reads no body: the stream of calls does not end. */
async function statusOf(method: string, path: string, headers: { [name: string]: string }): Promise<number> {
  const { status, body } = await ask(method, path, headers, hasBody(method) ? {} : undefined);
  await body?.cancel();
  return status;
}
const isOpen = async (cookie: string) => (await statusOf('GET', '/console/api/sessions', { cookie })) === 200;

async function newPerson(role: Role): Promise<{ id: string; token: string }> {
  const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', '/accounts?limit=1');
  const asked = { name: `The ${role}`, role, accounts: data.map(({ id }) => id) };
  const { id, link } = await gateway.admin<{ id: string; link: { path: string } }>('POST', '/people', asked);
  return { id, token: link.path.replace('/console/#link=', '') };
}
const newLink = async (person: string) =>
  (await gateway.admin<{ path: string }>('POST', `/people/${person}/login-link`)).path.replace('/console/#link=', '');

/** The cookie of the session that the link begins. */
async function open(token: string, before?: string): Promise<string> {
  const headers = { ...OWN_ORIGIN, ...(before && { cookie: before }) };
  const answer = await ask('POST', '/console/api/sign-in/link', headers, { token });
  expect(answer.status).toBe(200);
  const written = answer.headers.get('set-cookie') ?? '';
  expect(written).toContain('; HttpOnly; SameSite=Lax');
  return written.split(';')[0] ?? '';
}
const signedIn = async (role: Role) => open((await newPerson(role)).token);

test('each route answers each role as its permission says, and nobody without a session', async () => {
  const invented = `modelport_session=${'a'.repeat(43)}`;
  const asked: [string, Role | undefined, { [name: string]: string }][] = [
    ['without a session', undefined, OWN_ORIGIN],
    ['with an invented cookie', undefined, { ...OWN_ORIGIN, cookie: invented }],
  ];
  for (const role of ROLES) asked.push([role, role, { ...OWN_ORIGIN, cookie: await signedIn(role) }]);
  // Signing out ends the session that the others need; the next test signs out.
  const routes = ROUTES_OF_PEOPLE.filter(({ path }) => path !== '/console/api/sign-out');
  expect(routes.length).toBeGreaterThan(100);
  const wrong: string[] = [];
  for (const [who, role, headers] of asked)
    for (const { method, asked: path, permission } of routes) {
      const status = await statusOf(method, path, headers);
      const isAllowed = role && (permission === undefined || PERMISSIONS_OF[role].has(permission));
      const isRight = isAllowed
        ? status !== 401 && status !== 403 && status < 500
        : status === (role === undefined ? 401 : 403);
      if (!isRight) wrong.push(`${who}: ${method} ${path} ${status}`);
    }
  expect(wrong).toEqual([]);
}, 120_000);

test('a page of another origin changes nothing with the cookie of an owner', async () => {
  const { id, token } = await newPerson('owner');
  const cookie = await open(token);
  const link = await newLink(id);
  const changes = ROUTES_OF_PEOPLE.filter(({ method }) => method !== 'GET');
  const wrong: string[] = [];
  for (const [what, headers] of Object.entries(FOREIGN_ORIGINS)) {
    for (const { method, asked } of changes) {
      const status = await statusOf(method, asked, { ...headers, cookie });
      if (status !== 403) wrong.push(`${what}: ${method} ${asked} ${status}`);
    }
    // Nor does it sign its visitor in as somebody else.
    const forced = await ask('POST', '/console/api/sign-in/link', headers, { token: link });
    expect([what, forced.status, forced.headers.get('set-cookie')]).toEqual([what, 403, null]);
  }
  expect(wrong).toEqual([]);
  expect(await isOpen(cookie)).toBe(true);
  expect(await isOpen(await open(link))).toBe(true);
}, 120_000);

test('a cookie that was planted before the sign-in opens nothing after it', async () => {
  const { id, token } = await newPerson('owner');
  const invented = `modelport_session=${'b'.repeat(43)}`;
  const own = await open(token, invented);
  const attacker = await signedIn('member');
  const next = await open(await newLink(id), attacker);
  expect(new Set([invented, own, attacker, next]).size).toBe(4);
  expect(await isOpen(next)).toBe(true);
  for (const planted of [invented, attacker]) expect(await isOpen(planted)).toBe(false);
});

test('a copied cookie opens nothing once its session has ended, however it ended', async () => {
  const { id, token } = await newPerson('owner');
  const own = { ...OWN_ORIGIN, cookie: await open(token) };
  const ends: { [how: string]: (copied: string) => Promise<unknown> } = {
    'ended in the list of sessions': async () => {
      const list = await ask('GET', '/console/api/sessions', own);
      const { data } = (await list.json()) as { data: { id: string; current: boolean }[] };
      const others = data.filter(({ current }) => !current);
      expect(others).toHaveLength(1);
      return statusOf('DELETE', `/console/api/sessions/${others[0]?.id}`, own);
    },
    'signed out': (copied) => statusOf('POST', '/console/api/sign-out', { ...OWN_ORIGIN, cookie: copied }),
    'signed out by an admin': () => gateway.admin('POST', `/people/${id}/sign-out`),
    'the person disabled': () => gateway.admin('POST', `/people/${id}/disable`),
  };
  for (const [how, end] of Object.entries(ends)) {
    const copied = await open(await newLink(id));
    const states = async () => {
      const headers = { ...OWN_ORIGIN, cookie: copied };
      const paths = ['/console/api/sessions', '/admin/v1/accounts', '/console/api/account', '/admin/v1/calls/stream'];
      const asked = paths.map((path) => statusOf('GET', path, headers));
      return Promise.all([...asked, statusOf('POST', '/admin/v1/login-link', headers)]);
    };
    expect([how, await states()]).toEqual([how, [200, 200, 200, 200, 200]]);
    await end(copied);
    expect([how, await states()]).toEqual([how, [401, 401, 401, 401, 401]]);
    const session = await ask('GET', '/console/api/session', { cookie: copied });
    expect(await session.json()).toMatchObject({ person: null });
  }
});
