import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { ANSWERED_ROUTES } from './routes.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

const newKey = async (more: object = {}) =>
  (await edge.admin('POST', '/keys', { account: 'default', name: 'k', ...more })).body;
const balance = async (key: string) => (await edge.ask('GET', '/v1/balance', { key })).status;

test('PATCH sets given members, removes members that are null, and keeps the rest', async () => {
  const { id } = await newKey({ budget: '5', requestsPerMinute: 60, models: ['alpha'], scopes: ['chat', 'balance'] });
  const change = { name: 'renamed', budget: { day: '1' }, requestsPerMinute: null, models: null, concurrency: 2 };
  const { status, body } = await edge.admin('PATCH', `/keys/${id}`, change);
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: 'renamed', budget: { day: '1' }, concurrency: 2, scopes: ['chat', 'balance'] });
  for (const gone of ['requestsPerMinute', 'models', 'hash']) expect(body).not.toHaveProperty(gone);
  expect((await edge.admin('GET', `/keys/${id}`)).body).toEqual({
    ...body,
    spent: { total: '0', day: '0', month: '0' },
  });
  expect((await edge.admin('PATCH', `/keys/${id}`, { budget: null, expiresAt: '2001-01-01' })).body).not.toHaveProperty(
    'budget',
  );
  expect((await edge.admin('PATCH', '/keys/nothing', {})).status).toBe(404);
});

test.each([
  [{ scopes: ['chat', 'everything'] }, 'scopes'],
  [{ addresses: ['10.0.0.0/99'] }, 'addresses[0]'],
  [{ concurrency: 0 }, 'concurrency'],
  [{ aliases: { 'a b': 'alpha' } }, 'aliases'],
  [{ cacheSeconds: 0 }, 'cacheSeconds'],
  [{ cacheSeconds: 30 * 86_400 + 1 }, 'cacheSeconds'],
  [{ aliases: { a: 'alpha*' } }, 'aliases'],
  [{ expiresAt: 'soon' }, 'expiresAt'],
  [{ account: 'other' }, 'account'],
])('the change %j is refused', async (change, param) => {
  const { id } = await newKey();
  const refused = await edge.admin('PATCH', `/keys/${id}`, change);
  expect(refused.status).toBe(400);
  expect(refused.body.error.param).toStartWith(param);
});

test('a disabled key can be enabled again; a removed one is gone', async () => {
  const { id, key } = await newKey();
  await edge.admin('POST', `/keys/${id}/disable`);
  expect(await balance(key)).toBe(401);
  expect((await edge.admin('POST', `/keys/${id}/enable`)).body).not.toHaveProperty('disabledAt');
  expect(await balance(key)).toBe(200);
  expect((await edge.admin('DELETE', `/keys/${id}`)).body).toEqual({ id, removed: true });
  expect(await balance(key)).toBe(401);
  expect((await edge.admin('DELETE', `/keys/${id}`)).status).toBe(404);
});

test('a rotation with a grace period keeps the old secret for that time; without one the old secret ends at once', async () => {
  const { id, key } = await newKey();
  const second = (await edge.admin('POST', `/keys/${id}/rotate`, { graceSeconds: 60 })).body;
  expect(second.priorUntil).toBeString();
  expect(await Promise.all([balance(key), balance(second.key)])).toEqual([200, 200]);
  const third = (await edge.admin('POST', `/keys/${id}/rotate`)).body;
  expect(third).not.toHaveProperty('priorUntil');
  expect(await Promise.all([balance(key), balance(second.key), balance(third.key)])).toEqual([401, 401, 200]);
});

test('a key with scopes opens only the endpoints of these scopes', async () => {
  const { key } = await newKey({ scopes: ['models'] });
  expect((await edge.ask('GET', '/v1/models', { key })).status).toBe(200);
  const refused = await edge.ask('GET', '/v1/balance', { key });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'scope_not_allowed', type: 'permission_error' } });
});

test('every endpoint for callers has a scope', () => {
  const unscoped = ANSWERED_ROUTES.filter(({ gate, scope }) => gate === 'caller' && scope === undefined);
  expect(unscoped.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

test('limiting, disabling and enabling an account applies to its keys', async () => {
  const account = (await edge.admin('POST', '/accounts', { name: 'shop', budget: '9', tokensPerMinute: 1000 })).body;
  expect(account).toMatchObject({ budget: { total: '9' }, tokensPerMinute: 1000 });
  const { key } = (await edge.admin('POST', '/keys', { account: 'shop', name: 'k' })).body;
  const changed = await edge.admin('PATCH', '/accounts/shop', {
    budget: { month: '3' },
    tokensPerMinute: null,
    name: 'store',
  });
  expect(changed.body).toMatchObject({ id: account.id, name: 'store', budget: { month: '3' } });
  expect(changed.body).not.toHaveProperty('tokensPerMinute');
  expect((await edge.admin('PATCH', '/accounts/store', { name: 'default' })).status).toBe(409);
  await edge.admin('POST', '/accounts/store/disable');
  const refused = await edge.ask('GET', '/v1/balance', { key });
  expect(await refused.json()).toMatchObject({ error: { code: 'key_disabled' } });
  await edge.admin('POST', '/accounts/store/enable');
  expect(await balance(key)).toBe(200);
});

test('every change by an admin is in the audit log with actor, subject, before and after, and without secrets', async () => {
  const { id, key } = await newKey({ concurrency: 2 });
  await edge.admin('PATCH', `/keys/${id}`, { concurrency: 3, budget: '1.5' });
  const rotated = (await edge.admin('POST', `/keys/${id}/rotate`, { graceSeconds: 9 })).body;
  await edge.admin('DELETE', `/keys/${id}`);
  const { data } = (await edge.admin('GET', `/audit?subject=${id}`)).body;
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    'key.removed',
    'key.rotated',
    'key.changed',
    'key.created',
  ]);
  const change = data[2];
  expect(change).toMatchObject({
    subject: id,
    before: { concurrency: 2 },
    after: { concurrency: 3, budget: { total: '1.5' } },
  });
  const actor = await edge.store.keyById(change.actor);
  expect(actor).toMatchObject({ kind: 'admin' });

  await edge.admin('POST', '/providers', { name: 'audited', type: 'openai', credential: 'sk-provider-secret-abcd' });
  await edge.admin('DELETE', '/providers/audited');
  await edge.admin('POST', `/accounts/${edge.account}/top-ups`, { amount: '2' });
  const all = (await edge.admin('GET', '/audit?limit=3')).body;
  expect(all).toMatchObject({
    hasMore: true,
    data: [
      { action: 'account.topped-up', subject: edge.account, after: { amount: '2' } },
      { action: 'provider.removed', subject: 'audited' },
      { action: 'provider.created', subject: 'audited', after: { credentials: ['…abcd'] } },
    ],
  });
  const text = JSON.stringify((await edge.admin('GET', '/audit?limit=1000')).body);
  for (const secret of [key, rotated.key, 'provider-secret', 'hash']) expect(text).not.toContain(secret);
});

test("/metrics needs an admin key or its token, whatever the client's address", async () => {
  const metrics = (key: string | null, headers: { [name: string]: string } = {}) =>
    edge.ask('GET', '/metrics', { key, headers });
  expect((await metrics(null)).status).toBe(401);
  expect((await metrics(null, { 'x-forwarded-for': '127.0.0.1' })).status).toBe(401);
  expect((await metrics('sk-unknown')).status).toBe(401);
  expect((await metrics(edge.callerKey)).status).toBe(403);
  expect((await metrics(edge.adminKey)).status).toBe(200);
  edge.deps.settings.metrics = { token: 'metrics-token', isOpen: false };
  try {
    expect((await metrics('other')).status).toBe(401);
    expect((await metrics('metrics-token')).status).toBe(200);
    expect((await metrics(edge.adminKey)).status).toBe(200);
    edge.deps.settings.metrics = { token: undefined, isOpen: true };
    expect((await metrics(null)).status).toBe(200);
  } finally {
    edge.deps.settings.metrics = { token: undefined, isOpen: false };
  }
});

test.each(['/metrics', '/admin/v1/accounts', '/admin/v1/nothing', '/%61dmin/v1/accounts'])(
  '%s has no CORS headers for pages of other origins',
  async (path) => {
    const origin = 'https://page.invalid';
    for (const [method, key] of [
      ['GET', edge.adminKey],
      ['GET', null],
      ['OPTIONS', null],
    ] as const) {
      const headers = { origin, 'access-control-request-method': 'GET' };
      const answer = await edge.ask(method, path, { key, headers });
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
    expect(
      (await edge.ask('GET', '/v1/models', { headers: { origin } })).headers.get('access-control-allow-origin'),
    ).toBe('*');
  },
);
