/** Prices of a file beside those in use: compared, adopted now or later, taken back, and what the bill would have been. */
import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { offered } from '../catalog/offer.ts';
import { readComponents } from '../catalog/price-text.ts';
import { callRecord, loadHold } from '../ledger/random-load.ts';
import { replay } from '../ledger/replay.ts';

const SOURCED = { source: 'https://prices.test', asOf: '2026-11-01' };
const FILE = {
  models: [
    { type: 'openai', model: 'gpt-4o-mini', kind: 'chat', price: { input: '0.3', output: '0.6' }, ...SOURCED },
    { type: 'openai', model: 'same', kind: 'chat', price: { input: '1', output: '2' }, ...SOURCED, asOf: '2026-10-01' },
  ],
  tools: [],
};
const FORM = {
  providers: [{ name: 'main', type: 'openai', baseUrl: 'http://127.0.0.1:9/v1', credential: 'sk-test-abcdefgh' }],
  models: [
    ['gpt-4o-mini', { input: 0.15, output: 0.6 }],
    ['same', { input: 1, output: 2 }],
    ['own', { input: 5, output: 5 }],
  ].map(([name, price]) => ({ name, price, targets: [{ provider: 'main' }] })),
};

/** A call that was held at `at` and used 1000 input and 100 output tokens. */
async function call({ deps, account }: Loopback, id: string, at: number, factor?: string): Promise<void> {
  const group = factor === undefined ? undefined : { millionths: BigInt(Number(factor) * 1_000_000), text: factor };
  const model = offered(deps.catalog.find('gpt-4o-mini')!, at, group);
  const usage = { input: 1000, output: 100, source: 'reported' } as const;
  const cost = { '150000': 210_000n, '300000': 360_000n }[String(model.price.input)] ?? 0n;
  const charged = group ? (cost * group.millionths) / 1_000_000n : cost;
  const row = { account, model: model.name, priceId: model.priceId, at };
  const hold = await deps.ledger.hold({ ...loadHold(id, 1_000_000n), ...row });
  await deps.ledger.settle(hold, callRecord(id, charged, { ...row, usage }));
}

const clean = async ({ deps, store }: Loopback) => {
  const found = () => {};
  const replayed = await replay(store, { from: 0, to: Date.now() + 100_000_000, readPrice: readComponents, found });
  expect(replayed.differences).toBe(0);
  expect(await deps.ledger.verify()).toMatchObject({ ok: true, faults: [] });
};

describe.each(ENGINES)('$name', (engine) => {
  test('a price file is compared and adopted for calls from a time on; every bill stays exact', async () => {
    const { settings } = await engine.emptyDatabase();
    const edge = await startLoopback(settings);
    const { deps, store, account } = edge;
    await deps.apply(FORM as never, 'test');
    await deps.catalog.reload();
    await deps.ledger.topUp(account, 1_000_000_000n, { at: 1 });
    await store.savePriceGroup({ name: 'resellers', factor: '1.5', createdAt: 1 });
    const now = Date.now();
    await call(edge, 'call_1', now - 86_400_000);
    await call(edge, 'call_2', now - 1000, '1.5');
    await call(edge, 'call_old', now - 31 * 86_400_000);
    // The account holder sees what was charged, not what it was made from.
    const own = (await (await edge.ask('GET', '/v1/calls/call_2')).json()) as { charge: object[] };
    expect([own, Object.keys(own)]).toMatchObject([
      { cost: '0.000315' },
      expect.not.arrayContaining(['listCost', 'priceFactor']),
    ]);
    expect(own.charge).toMatchObject([
      { component: 'input', quantity: 1000, rate: '0.000000225', amount: '0.000225' },
      { component: 'output', quantity: 100, rate: '0.0000009', amount: '0.00009' },
    ]);
    const whole = (await edge.admin('GET', '/calls/call_2')).body;
    expect(whole).toMatchObject({ listCost: '0.00021', priceFactor: '1.5', charge: [{ amount: '0.00015' }, {}] });

    const compared = await edge.admin('POST', '/prices/diff', { prices: FILE });
    expect(compared.status).toBe(200);
    expect(compared.body).toMatchObject({
      source: 'file',
      asOf: '2026-11-01',
      equal: 1,
      unlisted: ['own'],
      models: [
        {
          model: 'gpt-4o-mini',
          provider: 'openai',
          before: { input: '0.15', output: '0.6' },
          after: { input: '0.3', output: '0.6' },
          source: 'https://prices.test',
        },
      ],
      effect: {
        state: 'done',
        calls: 2,
        skipped: 0,
        // 210,000 and 315,000 nano-USD were charged, 360,000 and 540,000 would have been.
        before: '0.000525',
        after: '0.0009',
        difference: '0.000375',
        models: [{ model: 'gpt-4o-mini', calls: 2, difference: '0.000375' }],
      },
    });
    const { fingerprint } = compared.body;

    // Nothing is adopted without names, by another comparison, or for calls of the past.
    const adopt = (body: object) => edge.admin('POST', '/prices/adopt', { prices: FILE, fingerprint, ...body });
    expect((await adopt({})).status).toBe(400);
    expect((await adopt({ models: 'all', fingerprint: 'another' })).status).toBe(409);
    expect((await adopt({ models: ['own'] })).body.error).toMatchObject({ param: 'models' });
    expect((await adopt({ models: 'all', from: '2020-01-01T00:00Z' })).body.error).toMatchObject({ param: 'from' });
    expect(deps.catalog.find('gpt-4o-mini')?.price.input).toBe(150_000n);

    const from = new Date(now + 60_000).toISOString();
    const adopted = await adopt({ models: ['gpt-4o-mini'], from });
    expect(adopted.body).toMatchObject({ from, models: [{ model: 'gpt-4o-mini', after: { input: '0.3' } }] });
    const { priceId } = adopted.body.models[0];
    await call(edge, 'call_3', now + 59_999);
    await call(edge, 'call_4', now + 60_000);
    expect((await store.call('call_3'))?.cost).toBe(210_000n);
    expect(await store.call('call_4')).toMatchObject({ cost: 360_000n, priceId });
    await clean(edge);

    const [audit] = (await edge.admin('GET', '/audit?subject=gpt-4o-mini&limit=1')).body.data;
    expect(audit).toMatchObject({
      action: 'price.adopted',
      before: { price: { input: '0.15' } },
      after: { priceId, price: { input: '0.3' }, file: 'file 2026-11-01', from },
    });
    expect((await edge.admin('GET', '/prices?model=gpt-4o-mini')).body.data).toMatchObject([
      { price: { input: '0.15' } },
      { id: priceId, effectiveAt: from, source: 'file 2026-11-01' },
    ]);
    const models = (await edge.admin('GET', '/models')).body.data;
    expect(models.find(({ name }: { name: string }) => name === 'gpt-4o-mini')).toMatchObject({
      price: { input: '0.15' },
      scheduled: [{ priceId, from }],
    });

    // Page by page, each call once; the usage of calls of other models is not read.
    const pages: string[][] = [];
    const filter = { from: 0, to: now + 100_000, models: ['gpt-4o-mini'], limit: 2 };
    for (let after: { at: number; id: string } | undefined; ; ) {
      const page = await store.billedCalls({ ...filter, ...(after && { after }) });
      pages.push(page.map(({ id }) => id));
      after = page.at(-1);
      if (!after) break;
    }
    expect(pages).toEqual([['call_4', 'call_3'], ['call_2', 'call_1'], ['call_old'], []]);
    const [other] = await store.billedCalls({ ...filter, models: ['same'] });
    expect(other).not.toHaveProperty('usage');

    // A file that is applied again keeps what is scheduled; taking it back leaves the price in use.
    await deps.apply(FORM as never, 'test');
    expect((await edge.admin('DELETE', `/prices/${priceId}`)).status).toBe(200);
    expect((await edge.admin('DELETE', `/prices/${priceId}`)).status).toBe(404);
    await call(edge, 'call_5', now + 61_000);
    expect((await store.call('call_5'))?.cost).toBe(210_000n);
    await clean(edge);
    await edge.stop();
  });
});

test('a price file is fetched from an address, checked, and never adopted from an address that answers something else', async () => {
  const edge = await startLoopback();
  await edge.deps.apply(FORM as never, 'test');
  await edge.deps.catalog.reload();
  let answer: () => Response = () => Response.json(FILE);
  const host = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer() });
  const source = `http://127.0.0.1:${host.port}/prices.json`;
  const compared = await edge.admin('GET', `/prices/diff?days=0&source=${encodeURIComponent(source)}`);
  expect(compared.body).toMatchObject({ source, equal: 1, models: [{ model: 'gpt-4o-mini' }] });
  expect(compared.body).not.toHaveProperty('effect');
  const { fingerprint } = compared.body;
  const adopt = () => edge.admin('POST', '/prices/adopt', { source, fingerprint, models: 'all' });

  const [first] = FILE.models;
  answer = () => Response.json({ ...FILE, models: [{ ...first, price: { input: '30', output: '60' } }] });
  expect((await adopt()).status).toBe(409);
  answer = () => Response.json({ ...FILE, models: [{ ...first, price: { input: '-1' } }] });
  expect((await adopt()).body.error.message).toContain('models.0.price.input');
  answer = () => new Response('<html>');
  expect((await adopt()).body.error.message).toBe('The price file is not valid JSON.');
  answer = () => Response.json({ ...FILE, models: [{ ...first, price: { input: '1' } }] });
  expect((await adopt()).body.error.message).toContain('since the model "gpt-4o-mini" is of kind chat');
  answer = () => Response.json(FILE);
  expect((await adopt()).body.models).toMatchObject([{ model: 'gpt-4o-mini', before: { input: '0.15' } }]);
  expect(edge.deps.catalog.find('gpt-4o-mini')?.price.input).toBe(300_000n);
  expect((await edge.admin('GET', '/prices/diff?source=http://10.0.0.1/x')).status).toBe(400);
  // The list of the release is what is compared without a source.
  expect((await edge.admin('GET', '/prices/diff?days=0')).body).toMatchObject({
    source: 'release',
    unlisted: ['own', 'same'],
  });
  await host.stop(true);
  await edge.stop();
});

test('the price of a model is set now or later, unless it has another one by now, and the model stays as it is', async () => {
  const edge = await startLoopback();
  const { deps, store } = edge;
  await deps.apply(FORM as never, 'test');
  await deps.catalog.reload();
  const stored = async () => (await store.models()).find(({ name }) => name === 'own')!;
  const before = await stored();
  const set = (body: object) =>
    edge.admin('POST', '/prices', {
      model: 'own',
      price: { input: '6', output: '7' },
      replaces: before.priceId,
      ...body,
    });

  expect((await set({ model: 'none' })).body.error).toMatchObject({ code: 'not_found', param: 'model' });
  expect((await set({ price: { input: '6' } })).body.error.message).toContain('since the model "own" is of kind chat');
  expect((await set({ price: { input: '-1', output: '7' } })).body.error).toMatchObject({ param: 'price.input' });
  expect((await set({ from: '2020-01-01T00:00Z' })).body.error).toMatchObject({ param: 'from' });
  expect(await stored()).toEqual(before);

  const both = await Promise.all([set({}), set({ price: { input: '8', output: '9' } })]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const won = both.find(({ status }) => status === 200)!.body;
  expect(both.find(({ status }) => status === 409)!.body.error).toMatchObject({ code: 'conflict', param: 'replaces' });
  expect(await stored()).toEqual({ ...before, priceId: won.id });
  // The price that lost is no version.
  expect((await edge.admin('GET', '/prices?model=own')).body.data).toHaveLength(2);
  expect(deps.catalog.find('own')?.price.input).toBe(BigInt(won.price.input) * 1_000_000n);

  const from = new Date(Date.now() + 60_000).toISOString();
  const later = await set({ replaces: won.id, price: { input: '1', output: '1' }, from });
  expect(later.body).toMatchObject({ model: 'own', effectiveAt: from });
  expect(await stored()).toMatchObject({ priceId: won.id, scheduled: [{ priceId: later.body.id }] });
  const same = await set({ replaces: won.id, price: { input: '2', output: '2' }, from });
  expect(same).toMatchObject({ status: 409, body: { error: { code: 'conflict', param: 'from' } } });
  expect(await stored()).toMatchObject({ priceId: won.id, scheduled: [{ priceId: later.body.id }] });
  const [audit] = (await edge.admin('GET', '/audit?subject=own&limit=1')).body.data;
  expect(audit).toMatchObject({
    action: 'price.set',
    before: { priceId: won.id, price: won.price },
    after: { priceId: later.body.id, price: { input: '1' }, from },
  });
  await edge.stop();
});

test('price groups: a factor is exact, a group with accounts stays, and every change is audited', async () => {
  const edge = await startLoopback();
  const put = (name: string, factor: unknown) => edge.admin('PUT', `/price-groups/${name}`, { factor });
  expect((await put('resellers', '1.20')).body).toMatchObject({ name: 'resellers', factor: '1.2' });
  for (const wrong of ['0', '-1', '1.0000001', '1001', 'x']) expect((await put('resellers', wrong)).status).toBe(400);
  expect((await put('with space', '1')).status).toBe(400);
  expect((await edge.admin('PATCH', `/accounts/${edge.account}`, { priceGroup: 'none' })).status).toBe(404);
  const changed = await edge.admin('PATCH', `/accounts/${edge.account}`, { priceGroup: 'resellers' });
  expect(changed.body).toMatchObject({ priceGroup: 'resellers', priceFactor: '1.2' });
  expect((await put('resellers', 1.3)).body.factor).toBe('1.3');
  expect((await edge.admin('GET', `/accounts/${edge.account}`)).body).toMatchObject({ priceFactor: '1.3' });
  expect((await edge.admin('DELETE', '/price-groups/resellers')).status).toBe(409);
  await edge.admin('PATCH', `/accounts/${edge.account}`, { priceGroup: null });
  expect((await edge.admin('DELETE', '/price-groups/resellers')).body).toEqual({ name: 'resellers', removed: true });
  const actions = (await edge.admin('GET', '/audit?subject=resellers')).body.data.map(
    ({ action }: { action: string }) => action,
  );
  expect(actions).toEqual(['price-group.removed', 'price-group.changed', 'price-group.created']);
  const made = await edge.admin('POST', '/accounts', { name: 'new', priceGroup: 'gone' });
  expect(made.status).toBe(404);
  await edge.stop();
});
