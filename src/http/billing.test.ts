import { afterAll, beforeAll, expect, test } from 'bun:test';
import { callRow } from '../../test/helpers/call-row.ts';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { newId } from '../canonical/id.ts';
import { DAY_MS } from '../canonical/time.ts';
import type { CallRow } from '../store/rows.ts';

let edge: Loopback;

beforeAll(async () => {
  edge = await startLoopback();
  await edge.deps.ledger.topUp(edge.account, 10_000_000_000n, { at: Date.now() });
  await charge('alpha', 250_000_000n, Date.now());
  await charge('beta', 1_000_000_001n, Date.now() - 40 * DAY_MS);
});
afterAll(() => edge.stop());

async function charge(
  model: string,
  cost: bigint,
  at: number,
  account = edge.account,
  more: Partial<CallRow> = {},
): Promise<CallRow> {
  const callId = newId('req_');
  const priceId = 'price_test';
  const caller = await edge.deps.access.authenticate({ key: edge.callerKey, address: '127.0.0.1' }, at);
  const key = account === edge.account ? caller.key : 'key_other';
  const hold = await edge.deps.ledger.hold({
    callId,
    account,
    key,
    amount: 2_000_000_000n,
    model,
    priceId,
    at,
  });
  const call: CallRow = {
    id: callId,
    account,
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
    ...more,
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
  const { attempts, ...listed } = data[0];
  expect(attempts).toBe(1);
  // Without a receipt: it was recorded by another program.
  const rest = { attempts: [], charge: [], entries: [{ kind: 'charge', amount: '-0.25' }] };
  expect((await edge.admin('GET', `/calls/${id}`)).body).toMatchObject({ ...listed, ...rest });
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

test('GET /admin/v1/usage reports all accounts by several groups, in a time zone, as JSON, CSV or lines of JSON', async () => {
  const other = (await edge.admin('POST', '/accounts', { name: 'other' })).body.id;
  await edge.deps.ledger.topUp(other, 10_000_000_000n, { at: Date.now() });
  const [from, to] = ['2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z'];
  // In Kathmandu (+05:45) the day begins within an hour of UTC; in Berlin the day of the 29th has 23 hours.
  for (const at of ['2026-03-28T18:14:59Z', '2026-03-28T18:15:00Z', '2026-03-28T22:59:59Z', '2026-03-29T22:00:00Z']) {
    await charge('=gamma', 1_000_000n, Date.parse(at));
  }
  await charge('=gamma', 5_000_000n, Date.parse('2026-03-28T18:20:00Z'), other);
  const report = async (query: string) => (await edge.admin('GET', `/usage?from=${from}&to=${to}&${query}`)).body;
  const daysIn = async (tz: string) => {
    const { data } = await report(`tz=${tz}&account=${edge.account}`);
    return data.map(({ day, calls }: { day: string; calls: number }) => [day, calls]);
  };
  expect(await daysIn('UTC')).toEqual([
    ['2026-03-28', 3],
    ['2026-03-29', 1],
  ]);
  expect(await daysIn('Europe/Berlin')).toEqual([
    ['2026-03-28', 3],
    ['2026-03-30', 1],
  ]);
  expect(await daysIn('Asia/Kathmandu')).toEqual([
    ['2026-03-28', 1],
    ['2026-03-29', 2],
    ['2026-03-30', 1],
  ]);

  const both = await report('group_by=model,day');
  expect(both).toMatchObject({ group_by: 'model,day', tz: 'UTC', currency: 'USD', total: { calls: 5, cost: '0.009' } });
  expect(both.data[0]).toEqual({
    group: '=gamma, 2026-03-28',
    model: '=gamma',
    day: '2026-03-28',
    calls: 4,
    cost: '0.008',
    input_tokens: 40,
    output_tokens: 20,
    saved: '0',
    provider_cost: null,
    margin: null,
    calls_with_provider_cost: 0,
  });
  const hours = await report(`group_by=hour,account&tz=Asia/Kolkata&account=${other}`);
  expect(hours.data).toMatchObject([{ hour: '2026-03-28T23:30:00+05:30', account: other, calls: 1, cost: '0.005' }]);

  const text = async (accept: string) => {
    const path = `/admin/v1/usage?from=${from}&to=${to}&group_by=model,day`;
    const response = await edge.ask('GET', path, { key: edge.adminKey, headers: { accept } });
    return [response.headers.get('content-type'), await response.text()];
  };
  expect(await text('text/csv')).toEqual([
    'text/csv; charset=utf-8; header=present',
    "model,day,calls,cost,input_tokens,output_tokens,saved,provider_cost,margin,calls_with_provider_cost\r\n'=gamma,2026-03-28,4,0.008,40,20,0,,,0\r\n'=gamma,2026-03-29,1,0.001,10,5,0,,,0\r\n",
  ]);
  const [type, lines = ''] = await text('text/csv;q=0.5, application/x-ndjson');
  expect(type).toBe('application/x-ndjson');
  expect(
    lines!
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ calls: 4 }, { calls: 1 }]);

  for (const [query, param] of [
    ['group_by=model,model', 'group_by'],
    ['group_by=colour', 'group_by'],
    ['tz=Europe/Nowhere', 'tz'],
    ['account=nobody', 'account'],
  ])
    expect((await edge.admin('GET', `/usage?${query}`)).body).toMatchObject({ error: { param } });
  expect((await edge.admin('GET', '/usage?from=0&to=900000000000')).body.error.param).toBe('from');
  const own = await edge.ask('GET', `/v1/usage?from=${from}&to=${to}&group_by=model,hour`);
  expect(((await own.json()) as { data: object[] }).data).toMatchObject([
    { model: '=gamma', hour: '2026-03-28T18:00:00Z', calls: 2 },
    { model: '=gamma', hour: '2026-03-28T22:00:00Z', calls: 1 },
    { model: '=gamma', hour: '2026-03-29T22:00:00Z', calls: 1 },
  ]);
  expect((await edge.ask('GET', '/v1/usage?group_by=account')).status).toBe(400);
});

test('GET /admin/v1/usage by provider and tag shows the margin where the cost is known; callers see their tags alone', async () => {
  const at = Date.parse('2026-01-10T10:00:00Z');
  await charge('delta', 4_000_000n, at, edge.account, { providerCost: 1_000_000n, tags: ['team-a', 'batch'] });
  await charge('delta', 2_000_000n, at + 1, edge.account, { provider: 'other', tags: ['team-a'] });
  await charge('delta', 1_000_000n, at + 2, edge.account, { providerCost: 3_000_000n });
  const time = `from=${at}&to=${at + 3_600_000}`;
  const report = async (query: string) => (await edge.admin('GET', `/usage?${time}&${query}`)).body;
  const costs = (calls: number, cost: string, provider_cost: string | null, margin: string | null, of: number) => ({
    calls,
    cost,
    provider_cost,
    margin,
    calls_with_provider_cost: of,
  });
  expect(await report('group_by=provider')).toMatchObject({
    data: [
      { group: 'main', provider: 'main', ...costs(2, '0.005', '0.004', '0.001', 2) },
      { group: 'other', provider: 'other', ...costs(1, '0.002', null, null, 0) },
    ],
    total: costs(3, '0.007', '0.004', '0.001', 2),
  });
  // A call with two tags is in both lines, and once in the total.
  const byTag = await report('group_by=tag,day');
  expect(byTag).toMatchObject({
    data: [
      { tag: 'batch', day: '2026-01-10', ...costs(1, '0.004', '0.001', '0.003', 1) },
      { tag: 'team-a', day: '2026-01-10', ...costs(2, '0.006', '0.001', '0.003', 1) },
    ],
    total: costs(3, '0.007', '0.004', '0.001', 2),
  });
  expect((await report('group_by=tag&tag=batch')).total).toMatchObject({ calls: 1, cost: '0.004' });
  expect((await report('group_by=model&provider=other&tag=team-a')).data).toMatchObject([{ model: 'delta', calls: 1 }]);
  const csv = await edge.ask('GET', `/admin/v1/usage?${time}&group_by=tag,provider`, {
    key: edge.adminKey,
    headers: { accept: 'text/csv' },
  });
  expect((await csv.text()).split('\r\n').slice(1)).toEqual([
    'batch,main,1,0.004,10,5,0,0.001,0.003,1',
    'team-a,main,1,0.004,10,5,0,0.001,0.003,1',
    'team-a,other,1,0.002,10,5,0,,,0',
    '',
  ]);
  const own = await get(`/v1/usage?${time}&group_by=tag`);
  expect(own).toMatchObject({
    data: [
      { group: 'batch', calls: 1 },
      { group: 'team-a', calls: 2 },
    ],
    total: { calls: 3 },
  });
  expect(JSON.stringify(own)).not.toMatch(/provider|margin/);
  expect((await edge.ask('GET', '/v1/usage?group_by=provider')).status).toBe(400);
  expect((await get(`/v1/usage?${time}&tag=batch`)) as object).toMatchObject({ total: { calls: 1 } });
});

test('GET /admin/v1/calls streams all calls of a time as CSV or lines of JSON', async () => {
  const from = Date.parse('2026-02-01T00:00:00Z');
  const first = await charge('many', 1_000_000n, from);
  const { account, key, provider, targetModel, dialect, upstreamDialect, priceId } = first;
  const like = { account, key, model: 'many', provider, targetModel, dialect, upstreamDialect, priceId };
  const more = Array.from({ length: 1203 }, (_, index): CallRow => {
    const figures = { stream: true, status: 200, outcome: 'ok' as const, attempts: 1, cost: 0n, durationMs: 1 };
    return { ...like, ...figures, id: `many_${String(index).padStart(4, '0')}`, at: from + 1 + (index >> 2) };
  });
  await edge.store.ledger(more.map((call) => ({ type: 'resolve', callId: call.id, amount: 0n, call })));
  const read = async (query: string, accept: string) => {
    const path = `/admin/v1/calls?from=${from}&to=${from + 3_600_000}${query}`;
    const response = await edge.ask('GET', path, { key: edge.adminKey, headers: { accept } });
    return { type: response.headers.get('content-type'), text: await response.text() };
  };
  const lines = await read('', 'application/x-ndjson');
  expect(lines.type).toBe('application/x-ndjson');
  const calls = lines.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const latestFirst = [...more.map(({ id }) => id).reverse(), first.id];
  expect(calls.map(({ id }) => id)).toEqual(latestFirst);
  expect(calls.at(-1)).toEqual((await edge.admin('GET', `/calls?from=${from}&to=${from + 1}`)).body.data[0]);
  const csv = await read('&model=many', 'text/csv');
  expect(csv.type).toBe('text/csv; charset=utf-8; header=present');
  const rows = csv.text.trimEnd().split('\r\n');
  expect(rows[0]).toStartWith('id,account,key,at,model,provider,');
  expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual(latestFirst);
  expect(rows.at(-1)).toContain('"{""input"":10,""output"":5,');
  const some = await read(`&limit=2&after=${latestFirst[9]}`, 'application/x-ndjson');
  expect(
    some.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ).toEqual(latestFirst.slice(10, 12));
  expect((await read('&model=nothing', 'application/x-ndjson')).text).toBe('');
});

test('a report of many lines is sent in pieces, each line once', async () => {
  const from = Date.parse('2026-03-01T00:00:00Z');
  const rows = Array.from({ length: 1203 }, (_, index) =>
    callRow({ id: `line_${index}`, at: from, account: edge.account, model: `line ${String(index).padStart(4, '0')}` }),
  );
  await edge.store.ledger(rows.map((call) => ({ type: 'resolve', callId: call.id, amount: 0n, call })));
  const path = `/admin/v1/usage?from=${from}&to=${from + 3_600_000}&group_by=model`;
  const read = async (accept: string) => {
    const response = await edge.ask('GET', path, { key: edge.adminKey, headers: { accept } });
    expect(response.headers.has('content-length')).toBe(false);
    return (await response.text()).split('\n').filter((line) => line !== '');
  };
  const models = rows.map(({ model }) => model);
  expect((await read('application/x-ndjson')).map((line) => JSON.parse(line).model)).toEqual(models);
  const json = JSON.parse((await read('application/json')).join(''));
  expect(json).toMatchObject({ group_by: 'model', tz: 'UTC', total: { calls: 1203 } });
  expect(json.data.map(({ model }: { model: string }) => model)).toEqual(models);
  expect((await edge.admin('GET', `/usage?from=${from}&to=${from + 3_600_000}&group_by=account`)).body).toEqual({
    ...json,
    group_by: 'account',
    data: [{ ...json.total, group: edge.account, account: edge.account }],
  });
  const [head, ...lines] = await read('text/csv');
  expect(head).toStartWith('model,calls,cost,');
  expect(lines.map((line) => line.split(',')[0] as string)).toEqual(models);
});
