import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CATALOGUE, type Loopback, startLoopback } from '../../test/helpers/loopback.ts';

const NOTHING = { total: '0', day: '0', month: '0' };
let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

test('POST /admin/v1/accounts creates an account with a balance of zero', async () => {
  const made = await edge.admin('POST', '/accounts', { name: 'shop' });
  expect(made.status).toBe(200);
  expect(made.body).toMatchObject({ name: 'shop', available: '0', held: '0' });
  for (const idOrName of [made.body.id, 'shop']) {
    expect((await edge.admin('GET', `/accounts/${idOrName}`)).body).toEqual({ ...made.body, spent: NOTHING });
  }
  const twin = await edge.admin('POST', '/accounts', { name: 'shop' });
  expect(twin).toMatchObject({ status: 409, body: { error: { code: 'conflict', param: 'name' } } });
  const nameless = await edge.admin('POST', '/accounts', {});
  expect(nameless).toMatchObject({ status: 400, body: { error: { message: '"name" is missing.', param: 'name' } } });
  expect((await edge.admin('GET', '/accounts/nothing')).status).toBe(404);
});

test('GET /admin/v1/accounts pages with `after`', async () => {
  for (const name of ['page-1', 'page-2', 'page-3']) await edge.admin('POST', '/accounts', { name });
  const all = (await edge.admin('GET', '/accounts')).body;
  expect(all).toMatchObject({ hasMore: false, next: null });
  const names: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const page: { data: { name: string }[]; next: string | null } = (
      await edge.admin('GET', `/accounts?limit=2&after=${next}`)
    ).body;
    expect(page.data.length).toBeLessThanOrEqual(2);
    names.push(...page.data.map(({ name }) => name));
    next = page.next;
  }
  expect(names).toEqual(all.data.map(({ name }: { name: string }) => name));
  expect((await edge.admin('GET', '/accounts?limit=0')).body.error).toMatchObject({
    message: '"limit" must be an integer from 1 to 1000.',
    param: 'limit',
  });
});

test('POST /admin/v1/accounts/{id}/top-ups adds money once for each Idempotency-Key', async () => {
  const { id } = (await edge.admin('POST', '/accounts', { name: 'top' })).body;
  const path = `/accounts/${id}/top-ups`;
  const added = await edge.admin('POST', path, { amount: '5.00', note: 'first' });
  expect(added.status).toBe(200);
  expect(added.body).toMatchObject({ seq: 1, kind: 'top-up', amount: '5', balanceAfter: '5', note: 'first' });
  const key = { 'idempotency-key': 'once' };
  const once = await edge.admin('POST', path, { amount: '0.000000001' }, key);
  expect(await edge.admin('POST', path, { amount: '0.000000001' }, key)).toEqual(once);
  expect((await edge.admin('POST', path, { amount: '2' }, key)).status).toBe(409);
  expect((await edge.admin('GET', `/accounts/${id}`)).body.available).toBe('5.000000001');
  const entries = (await edge.admin('GET', `/accounts/${id}/entries`)).body.data;
  expect(entries.map(({ seq, amount }: { seq: number; amount: string }) => [seq, amount]).sort()).toEqual([
    [1, '5'],
    [2, '0.000000001'],
  ]);
});

test('GET /admin/v1/accounts/{id}/entries pages from the newest entry with `order=desc`', async () => {
  const { id } = (await edge.admin('POST', '/accounts', { name: 'ledger-pages' })).body;
  const path = `/accounts/${id}/entries`;
  for (const amount of ['1', '2', '3']) await edge.admin('POST', `/accounts/${id}/top-ups`, { amount });
  const amounts: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: { data: { amount: string }[]; next: string | null } = (
      await edge.admin('GET', `${path}?order=desc&limit=2&after=${next}`)
    ).body;
    amounts.push(...page.data.map(({ amount }) => amount));
    next = page.next;
  }
  expect(amounts).toEqual(['3', '2', '1']);
  const oldest = (await edge.admin('GET', `${path}?order=asc&limit=1`)).body;
  expect(oldest).toMatchObject({ data: [{ amount: '1' }], hasMore: true, next: '1' });
  for (const wrong of ['order=newest', 'after=newest', 'after=99999999999999999999']) {
    const refused = await edge.admin('GET', `${path}?${wrong}`);
    expect([wrong, refused.status, refused.body.error.param]).toEqual([wrong, 400, wrong.split('=')[0]]);
  }
});

test('refunds, adjustments and codes change the balance, each through its own endpoint', async () => {
  const { id } = (await edge.admin('POST', '/accounts', { name: 'moves' })).body;
  const refund = await edge.admin('POST', `/accounts/${id}/refunds`, { amount: 1, note: 'sorry\0' });
  expect(refund.body).toMatchObject({ kind: 'refund', amount: '1', balanceAfter: '1', note: 'sorry' });
  const unknown = await edge.admin('POST', `/accounts/${id}/refunds`, { amount: 1, callId: 'req_nothing' });
  expect(unknown.status).toBe(404);
  const path = `/accounts/${id}/adjustments`;
  expect((await edge.admin('POST', path, { amount: '-0.5' })).body.error.param).toBe('note');
  const key = { 'idempotency-key': 'adjust-1' };
  const adjusted = await edge.admin('POST', path, { amount: '-0.5', note: 'twice' }, key);
  expect(adjusted.body).toMatchObject({ kind: 'adjustment', balanceAfter: '0.5' });
  expect(await edge.admin('POST', path, { amount: '-0.5', note: 'twice' }, key)).toEqual(adjusted);
  expect((await edge.admin('POST', path, { amount: '-0.5', note: 'thrice' }, key)).status).toBe(409);
  expect((await edge.admin('POST', path, { amount: 0, note: 'n' })).status).toBe(400);
  const long = { 'idempotency-key': 'k'.repeat(256) };
  expect((await edge.admin('POST', path, { amount: 1, note: 'n' }, long)).status).toBe(400);

  const made = (await edge.admin('POST', '/codes', { amount: '2.5', note: 'spring' })).body;
  expect(made.code).toMatch(/^credit-[0-9A-Za-z]{24}$/);
  const redeem = (code: string) => edge.ask('POST', '/v1/redeem', { body: { code } });
  const first = await (await redeem(made.code)).json();
  expect(first).toMatchObject({ amount: '2.5', currency: 'USD' });
  expect(await (await redeem(made.code)).json()).toEqual(first);
  expect((await redeem('credit-guess')).status).toBe(404);
  const once = { 'idempotency-key': 'spring-1' };
  const order = { amount: '1', note: 'again', expiresAt: '2100-01-01T00:00:00Z' };
  const [again, ...repeats] = await Promise.all([0, 1, 2].map(() => edge.admin('POST', '/codes', order, once)));
  expect(again?.body.code).toMatch(/^credit-[0-9A-Za-z]{24}$/);
  for (const repeat of repeats) expect(repeat).toEqual(again!);
  expect((await edge.admin('POST', '/codes', { ...order, amount: '2' }, once)).status).toBe(409);
  const other = (await edge.admin('POST', '/keys', { name: 'other admin', kind: 'admin' })).body.key;
  const byOther = await edge.ask('POST', '/admin/v1/codes', { key: other, body: order, headers: once });
  expect(await byOther.json()).toMatchObject({ error: { code: 'conflict', param: 'idempotency-key' } });
  expect((await redeem(again?.body.code)).status).toBe(200);
  // Nobody else can use the idempotency key that a redemption makes for itself.
  const taken = { 'idempotency-key': `code:${made.id}` };
  expect((await edge.admin('POST', `/accounts/${id}/top-ups`, { amount: 1 }, taken)).status).toBe(400);
  const { data } = (await edge.admin('GET', '/codes')).body;
  expect(data).toMatchObject([
    { id: made.id, amount: '2.5', redeemedBy: edge.account, last4: made.code.slice(-4) },
    { id: again?.body.id, amount: '1', note: 'again' },
  ]);
  expect(data).toHaveLength(2);
  expect(JSON.stringify(data)).not.toContain(made.code);
  expect((await edge.admin('GET', '/ledger/verify')).body).toMatchObject({ ok: true, counters: { codes: '-3.5' } });
});

test.each(['0', '-1', '0.0000000001', 'much', '1e3', ''])('a top-up of "%s" is refused', async (amount) => {
  const refused = await edge.admin('POST', `/accounts/${edge.account}/top-ups`, { amount });
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'amount' } } });
});

test('POST /admin/v1/keys creates a working key with its limits', async () => {
  const made = await edge.admin('POST', '/keys', {
    account: 'default',
    name: 'laptop',
    expiresAt: '2100-01-01T00:00:00Z',
    models: ['alpha'],
    addresses: ['127.0.0.0/8'],
    budget: { total: '5.00', day: 1 },
    requestsPerMinute: 60,
    tokensPerMinute: 1000,
    concurrency: 2,
  });
  expect(made.status).toBe(200);
  const { id, key } = made.body;
  expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  expect((await edge.ask('GET', '/v1/balance', { key })).status).toBe(200);
  const listed = (await edge.admin('GET', '/keys?account=default')).body.data.find(
    (row: { id: string }) => row.id === id,
  );
  expect(listed).toMatchObject({
    account: edge.account,
    last4: key.slice(-4),
    expiresAt: '2100-01-01T00:00:00.000Z',
    budget: { total: '5', day: '1' },
    concurrency: 2,
  });
  const whole = JSON.stringify((await edge.admin('GET', '/keys')).body);
  expect(whole).not.toContain(key);
  expect(whole).not.toContain('hash');
});

test('a budget may have a total only', async () => {
  for (const budget of ['2.50', 2.5]) {
    const { body } = await edge.admin('POST', '/keys', { account: edge.account, name: 'total', budget });
    expect(body.budget).toEqual({ total: '2.5' });
  }
});

test.each([
  [{ name: 'x' }, 'account'],
  [{ account: 'default' }, 'name'],
  [{ account: 'default', name: 'x', budget: 'much' }, 'budget'],
  [{ account: 'default', name: 'x', budget: { week: '1' } }, 'budget'],
  [{ account: 'default', name: 'x', addresses: ['10.0.0.0/99'] }, 'addresses[0]'],
  [{ account: 'default', name: 'x', expiresAt: 'soon' }, 'expiresAt'],
  [{ account: 'default', name: 'x', concurrency: 0 }, 'concurrency'],
  [{ account: 'default', name: 'x', colour: 'red' }, 'colour'],
])('the key %j is refused', async (body, param) => {
  expect(await edge.admin('POST', '/keys', body)).toMatchObject({ status: 400, body: { error: { param } } });
});

test('a disabled or rotated key is refused from the next request on', async () => {
  const { id, key } = (await edge.admin('POST', '/keys', { account: 'default', name: 'short' })).body;
  expect((await edge.ask('GET', '/v1/balance', { key })).status).toBe(200);
  const rotated = (await edge.admin('POST', `/keys/${id}/rotate`)).body;
  expect(rotated.key).toStartWith('sk-');
  expect((await edge.ask('GET', '/v1/balance', { key })).status).toBe(401);
  expect((await edge.ask('GET', '/v1/balance', { key: rotated.key })).status).toBe(200);
  expect((await edge.admin('POST', `/keys/${id}/disable`)).body.disabledAt).toBeString();
  const refused = await edge.ask('GET', '/v1/balance', { key: rotated.key });
  expect(await refused.json()).toMatchObject({ error: { code: 'key_disabled' } });
  expect((await edge.admin('POST', '/keys/nothing/disable')).status).toBe(404);
  expect((await edge.admin('POST', '/keys/nothing/rotate')).status).toBe(404);
});

test('a stored credential is not sent to another address, by a provider or by a file', async () => {
  const [provider] = CATALOGUE.providers;
  const { credential: _, ...unnamed } = { credential: '', ...provider };
  await edge.admin('POST', '/providers', provider);
  const moved = { ...unnamed, baseUrl: 'https://elsewhere.test/v1' };
  const refused = await edge.admin('PUT', '/providers/main', moved);
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'credential' } } });
  expect(refused.body.error.message).toContain('credential must be given again');
  const byFile = await edge.admin('POST', '/apply', { providers: [moved] });
  expect(byFile).toMatchObject({ status: 400, body: { error: { param: 'providers[0].credential' } } });
  expect((await edge.admin('GET', '/providers')).body.data).toMatchObject([{ baseUrl: provider?.baseUrl }]);
  const typed = await edge.admin('PUT', '/providers/main', { ...moved, credential: 'sk-of-elsewhere-9999' });
  expect(typed).toMatchObject({ status: 200, body: { baseUrl: moved.baseUrl, credentials: ['…9999'] } });
});

test('an admin key created by the API opens the admin API', async () => {
  const { key } = (await edge.admin('POST', '/keys', { name: 'second admin', kind: 'admin' })).body;
  expect(key).toStartWith('sk-admin-');
  expect((await edge.ask('GET', '/admin/v1/accounts', { key })).status).toBe(200);
});

test('providers, models and prices have the form of modelport.yaml', async () => {
  const [provider] = CATALOGUE.providers;
  const [alpha, beta] = CATALOGUE.models;
  const saved = await edge.admin('POST', '/providers', provider);
  expect(saved).toMatchObject({ status: 200, body: { name: 'main', credentials: ['…1234'] } });
  expect((await edge.admin('POST', '/models', alpha)).body).toMatchObject({ price: { input: '0.15', output: '0.6' } });
  const { name: _, ...unnamed } = beta ?? { name: '' };
  expect((await edge.admin('PUT', '/models/team/beta-2', unnamed)).status).toBe(200);
  const listed = await edge.ask('GET', '/v1/models/team/beta-2');
  expect(listed.status).toBe(200);

  const repriced = await edge.admin('PUT', '/models/alpha', { ...alpha, price: { input: 1, output: 2 } });
  expect(repriced.body.price).toEqual({ input: '1', output: '2' });
  const prices = (await edge.admin('GET', '/prices?model=alpha')).body.data;
  expect(prices.length).toBe(2);
  expect((await edge.admin('GET', '/models?limit=1')).body).toMatchObject({ hasMore: true });

  const inUse = await edge.admin('DELETE', '/providers/main');
  expect(inUse.status).toBe(409);
  for (const name of ['alpha', 'team/beta-2']) {
    expect((await edge.admin('DELETE', `/models/${name}`)).body).toEqual({ name, removed: true });
  }
  expect((await edge.ask('GET', '/v1/models/alpha')).status).toBe(404);
  expect((await edge.admin('DELETE', '/models/alpha')).status).toBe(404);
  expect((await edge.admin('DELETE', '/providers/main')).status).toBe(200);
  expect((await edge.admin('GET', '/providers')).body.data).toEqual([]);
});

test('an invalid entry is refused with the name of the wrong member', async () => {
  const wrong = await edge.admin('POST', '/providers', { name: 'x', type: 'openai', baseUrl: 'nowhere' });
  expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'baseUrl' } } });
  expect(wrong.body.error.message).not.toContain('providers[0]');
  expect((await edge.admin('PUT', '/providers/y', { name: 'x' })).body.error.param).toBe('name');
  expect((await edge.admin('POST', '/models', {})).body.error.param).toBe('name');
});

test('GET /admin/v1/ledger/verify reports no faults in a correct ledger', async () => {
  expect((await edge.admin('GET', '/ledger/verify')).body).toMatchObject({ ok: true, holds: 0, faults: [] });
});

test('POST /admin/v1/apply applies a file to the catalogue and warns when it reverts what another file had set', async () => {
  const file = (input: number) => ({
    models: [{ ...CATALOGUE.models[0], name: 'filed', price: { input, output: 9 } }],
  });
  const first = await edge.admin('POST', '/apply?file=here.yaml', { ...CATALOGUE, ...file(1) });
  expect(first).toMatchObject({ status: 200, body: { models: { added: ['filed'], changed: [], repriced: [] } } });
  expect(edge.deps.catalog.find('filed')).toBeDefined();
  const second = await edge.admin('POST', '/apply?file=there.yaml', file(2));
  expect(second.body.models).toMatchObject({ added: [], repriced: ['filed'] });
  expect(second.body.messages).toEqual([
    { level: 'info', message: expect.stringContaining('there.yaml changed model "filed"') },
    {
      level: 'warn',
      message: expect.stringMatching(/^there\.yaml \(\w{8}\) reverted what here\.yaml \(\w{8}\) set for model "filed"/),
    },
  ]);
  const [change] = (await edge.admin('GET', '/audit?limit=1&subject=filed')).body.data;
  const { id } = (await edge.admin('GET', '/keys?limit=1000')).body.data.find(
    ({ kind }: { kind: string }) => kind === 'admin',
  );
  expect(change.actor).toMatch(new RegExp(`^file there\\.yaml [0-9a-f]{8} by ${id}$`));

  const again = await edge.admin('POST', '/apply?file=there.yaml', file(2));
  expect(again.body).toEqual({
    providers: { added: [], changed: [] },
    models: { added: [], changed: [], repriced: [] },
    messages: [],
  });
});

test.each([
  ['/apply?file=..%2Fhere.yaml', {}, 'file'],
  ['/apply?file=here%0A.yaml', {}, 'file'],
  ['/apply', { model: [] }, 'model'],
  ['/apply', { models: [{ name: 'x' }] }, 'models[0].price'],
  [
    '/apply',
    { models: [{ name: 'x', price: { input: 1, output: 1 }, targets: [{ provider: 'nowhere' }] }] },
    'models[0].targets[0].provider',
  ],
])('POST %s with %j is refused and changes nothing', async (path, body, param) => {
  const before = (await edge.admin('GET', '/audit?limit=1')).body.data;
  expect(await edge.admin('POST', path, body)).toMatchObject({ status: 400, body: { error: { param } } });
  expect((await edge.admin('GET', '/audit?limit=1')).body.data).toEqual(before);
});

test('a code is redeemed once for an account, and only by an admin', async () => {
  const { code } = (await edge.admin('POST', '/codes', { amount: '3' })).body;
  const { id } = (await edge.admin('POST', '/accounts', { name: 'redeems' })).body;
  const path = `/accounts/${id}/redemptions`;
  const first = await edge.admin('POST', path, { code });
  expect(first).toMatchObject({ status: 200, body: { kind: 'redemption', amount: '3', balanceAfter: '3' } });
  expect(await edge.admin('POST', path, { code })).toEqual(first);
  const other = await edge.admin('POST', `/accounts/${edge.account}/redemptions`, { code });
  expect(other.status).toBe(409);
  expect((await edge.admin('POST', path, { code: 'credit-guess' })).status).toBe(404);
  expect((await edge.admin('POST', '/accounts/nobody/redemptions', { code })).body.error.param).toBe('account');
  const [change] = (await edge.admin('GET', `/audit?limit=1&subject=${id}`)).body.data;
  expect(change).toMatchObject({ action: 'account.redeemed', after: { amount: '3' } });
});

test.each(['/accounts/default/redemptions', '/apply', '/secrets/rotate'])(
  'a caller key is refused at %s',
  async (path) => {
    const response = await edge.ask('POST', `/admin/v1${path}`, { body: {} });
    expect(response.status).toBe(403);
  },
);

test('GET /admin/v1/settings lists the settings with their source, and no secret', async () => {
  const { status, body } = await edge.admin('GET', '/settings');
  expect(status).toBe(200);
  expect(body.data).toContainEqual({ name: 'PORT', value: '0', source: 'environment', isSecret: false, isSet: true });
  expect(body.data).toContainEqual({ name: 'MODELPORT_API_KEY', source: 'environment', isSecret: true, isSet: true });
  expect((await edge.ask('GET', '/admin/v1/settings')).status).toBe(403);
});

test('POST /admin/v1/routing/explain refuses headers that HTTP does not allow', async () => {
  const explain = (headers: object) =>
    edge.admin('POST', '/routing/explain', { request: { model: 'gpt-mini', messages: [] }, headers });
  for (const headers of [{ 'x y': '1' }, { 'x-\u001b': '1' }, { 'x-title': 'a\nb' }, { 'x-title': '\ud800' }]) {
    const { status, body } = await explain(headers);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'headers']);
    expect(body.error.message).toContain(JSON.stringify(Object.keys(headers)[0]));
  }
  expect((await explain({ 'x-title': 'a' })).status).toBe(200);
});

test('POST /admin/v1/providers/found-models asks a saved provider or a typed one, and keeps no key', async () => {
  const seen: (string | null)[] = [];
  const provider = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers }) {
      seen.push(headers.get('authorization'));
      const isKnown = headers.get('authorization') !== 'Bearer sk-wrong-one';
      return Response.json(isKnown ? { data: [{ id: 'gpt-here' }] } : {}, { status: isKnown ? 200 : 401 });
    },
  });
  try {
    const baseUrl = `http://127.0.0.1:${provider.port}/v1`;
    const find = (body: object) => edge.admin('POST', '/providers/found-models', body);
    const list = { status: 200, body: { data: [{ id: 'gpt-here' }], hasMore: false } };
    const type = 'openai-compatible';
    expect(await find({ type, baseUrl, credential: 'sk-pasted-one' })).toEqual(list);
    await edge.admin('PUT', '/providers/listed', { type, baseUrl, credential: 'sk-stored-one' });
    expect(await find({ provider: 'listed' })).toEqual(list);
    expect(seen).toEqual(['Bearer sk-pasted-one', 'Bearer sk-stored-one']);
    const wrong = await find({ type, baseUrl, credential: 'sk-wrong-one' });
    expect(wrong.body).toMatchObject({ data: [], problem: { code: 'credential_refused' } });
    const param = async (body: object) => (await find(body)).body.error?.param;
    // The stored credential goes to the stored address alone.
    expect(await param({ provider: 'listed', baseUrl: 'http://127.0.0.1:1' })).toBe('baseUrl');
    expect(await param({ type, baseUrl: 'file:///etc/passwd' })).toBe('baseUrl');
    expect(await param({ type })).toBe('type');
    expect(await param({})).toBe('type');
    expect((await find({ provider: 'nobody' })).status).toBe(404);
    const kept = JSON.stringify([edge.troubles, (await edge.admin('GET', '/audit')).body, wrong]);
    for (const secret of ['sk-pasted-one', 'sk-wrong-one', 'sk-stored-one']) expect(kept).not.toContain(secret);
  } finally {
    provider.stop(true);
  }
});
