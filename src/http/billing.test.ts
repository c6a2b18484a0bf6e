import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { newId } from '../canonical/id.ts';
import type { CallRow } from '../store/store.ts';

let edge: Loopback;
const DAY_MS = 86_400_000;

beforeAll(async () => {
  edge = await startLoopback();
  await edge.deps.ledger.topUp(edge.account, 10_000_000_000n, { at: Date.now() });
  await charge('alpha', 250_000_000n, Date.now());
  await charge('beta', 1_000_000_001n, Date.now() - 40 * DAY_MS);
});
afterAll(() => edge.stop());

async function charge(model: string, cost: bigint, at: number): Promise<CallRow> {
  const callId = newId('req_');
  const priceId = 'price_test';
  const { key } = await edge.deps.access.authenticate({ key: edge.callerKey, address: '127.0.0.1' }, at);
  const hold = await edge.deps.ledger.hold({
    callId,
    account: edge.account,
    key,
    amount: 2_000_000_000n,
    model,
    priceId,
    at,
  });
  const call: CallRow = {
    id: callId,
    account: edge.account,
    key,
    at,
    model,
    provider: 'main',
    targetModel: model,
    dialect: 'openai-chat',
    upstreamDialect: 'openai-chat',
    stream: false,
    status: 200,
    outcome: 'ok',
    attempts: 1,
    cost,
    priceId,
    usage: { input: 10, output: 5, source: 'reported' },
    durationMs: 12,
  };
  await edge.deps.ledger.settle(hold, call);
  edge.deps.metrics.called(call);
  return call;
}

const get = async (path: string) => (await edge.ask('GET', path)).json();

test('GET /v1/balance returns the exact available and held amounts', async () => {
  expect(await get('/v1/balance')).toEqual({ available: '8.749999999', held: '0', currency: 'USD' });
});

test('GET /v1/usage sums the last 30 days, or the requested days, by day, model or key', async () => {
  const usage = (await get('/v1/usage')) as { data: object[]; total: object };
  expect(usage.data).toEqual([
    {
      group: new Date().toISOString().slice(0, 10),
      calls: 1,
      cost: '0.25',
      input_tokens: 10,
      output_tokens: 5,
      saved: '0',
    },
  ]);
  expect(usage.total).toEqual({ calls: 1, cost: '0.25', input_tokens: 10, output_tokens: 5, saved: '0' });
  const from = new Date(Date.now() - 50 * DAY_MS).toISOString();
  const byModel = (await get(`/v1/usage?group_by=model&from=${from}`)) as { data: { group: string }[]; total: object };
  expect(byModel.data.map(({ group }) => group)).toEqual(['alpha', 'beta']);
  expect(byModel.total).toMatchObject({ calls: 2, cost: '1.250000001' });
  const seconds = Math.floor(Date.now() / 1000 - 50 * 86_400);
  expect(((await get(`/v1/usage?group_by=key&from=${seconds}`)) as { total: object }).total).toEqual(byModel.total);
  const wrong = await edge.ask('GET', '/v1/usage?group_by=colour');
  expect(await wrong.json()).toMatchObject({ error: { param: 'group_by' } });
});

test('the billing dashboard reports all money received and spent', async () => {
  for (const prefix of ['/v1', '']) {
    expect(await get(`${prefix}/dashboard/billing/subscription`)).toMatchObject({
      object: 'billing_subscription',
      hard_limit_usd: 10,
      access_until: 0,
    });
    const usage = (await get(`${prefix}/dashboard/billing/usage`)) as { total_usage: number };
    expect(usage.total_usage).toBeCloseTo(125.0000001, 6);
  }
  const today = new Date().toISOString().slice(0, 10);
  const lately = (await get(`/dashboard/billing/usage?start_date=${today}&end_date=${today}`)) as {
    total_usage: number;
  };
  expect(lately.total_usage).toBe(25);
});

test('GET /admin/v1/calls lists and filters calls', async () => {
  const { data } = (await edge.admin('GET', '/calls?account=default')).body;
  expect(data.map(({ model }: { model: string }) => model)).toEqual(['alpha', 'beta']);
  expect(data[0]).toMatchObject({ cost: '0.25', usage: { input: 10, output: 5 }, outcome: 'ok', status: 200 });
  const filtered = (await edge.admin('GET', '/calls?model=beta&limit=1')).body;
  expect(filtered).toMatchObject({ data: [{ model: 'beta' }], hasMore: false });
  const { id } = data[0];
  expect((await edge.admin('GET', `/calls/${id}`)).body).toEqual(data[0]);
  const page = (await edge.admin('GET', '/calls?limit=1')).body;
  expect(page.next).toBe(id);
  expect((await edge.admin('GET', `/calls?limit=1&after=${id}`)).body.data[0].model).toBe('beta');
  expect((await edge.admin('GET', `/calls?from=${new Date(Date.now() - DAY_MS).toISOString()}`)).body.data.length).toBe(
    1,
  );
  expect((await edge.admin('GET', '/calls?account=nothing')).status).toBe(404);
  expect((await edge.admin('GET', '/calls?to=soon')).body.error.param).toBe('to');
});

test('the metrics count calls and money', async () => {
  const text = await (await edge.ask('GET', '/metrics', { key: edge.adminKey })).text();
  expect(text).toContain('modelport_calls_total{model="alpha",provider="main",outcome="ok"} 1\n');
  expect(text).toContain('modelport_charged_usd_total{model="alpha",provider="main"} 0.25\n');
});
