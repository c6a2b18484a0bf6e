import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, wholeAnswer } from '../../test/chat-answers.ts';
import { type GatewayBench, type GatewayCase, PRICE, startGatewayBench } from '../../test/gateway-bench.ts';
import { applyCatalogue } from '../catalog/apply.ts';
import { dialectNamed } from '../dialects/index.ts';
import type { Explanation } from './explain.ts';

let bench: GatewayBench;
beforeAll(async () => {
  bench = await startGatewayBench();
});
afterAll(() => bench.close());

function explained(at: GatewayCase, body: object): Promise<Explanation> {
  const dialect = dialectNamed('openai-chat');
  if (!dialect) throw new Error('There is no such format.');
  return at.gateway.explain(dialect, at.caller, {
    body: Buffer.from(JSON.stringify(body)),
    headers: new Headers(),
    path: {},
    query: new URLSearchParams(),
  });
}

/** A model that another answers for, at three times its price. */
async function withFallback(): Promise<{ at: GatewayCase; other: GatewayCase }> {
  const other = await bench.open({ model: { price: { input: 3, output: 12 } } });
  const at = await bench.open({ targets: 2 });
  const [own] = (await bench.store.models()).filter(({ name }) => name === at.model);
  const model = { name: at.model, aliases: [`alias-${at.model}`], price: PRICE, maxOutputTokens: 100 };
  const fallbacks = [{ model: other.model }];
  await applyCatalogue(bench.store, { models: [{ ...model, fallbacks, targets: own?.targets }] }, 0);
  await at.deps.catalog.reload();
  return { at, other };
}

test('what is explained is what happens: models, order, hold; nothing is sent, held or recorded', async () => {
  const { at, other } = await withFallback();
  const body = chatRequest(`alias-${at.model}`, { max_tokens: 50, provider: { order: [`p1-${at.model}`] } });
  const { hold, models, ...rest } = await explained(at, body);
  expect(rest).toMatchObject({ asked: body.model, foundBy: 'alias', wishes: { order: [`p1-${at.model}`] } });
  expect(rest.error).toBeUndefined();
  expect(models.map(({ name, on, targets }) => [name, on, targets.map(({ provider }) => provider)])).toEqual([
    [at.model, undefined, [`p1-${at.model}`, `p0-${at.model}`]],
    [other.model, ['context_length', 'unavailable'], [`p0-${other.model}`]],
  ]);
  expect([at.transport.sent, at.calls, await at.held()]).toEqual([[], [], 0n]);

  at.transport.script(errorAnswer(500, 'no'), errorAnswer(500, 'no'));
  const serving = at.serve(body);
  const last = await at.transport.next();
  expect(await at.held()).toBe(hold ?? -1n);
  expect(at.transport.sent.map(({ host }) => host)).toEqual(['p1.test', 'p0.test', 'p0.test']);
  last.answer(wholeAnswer('hello'));
  expect((await serving).headers['x-modelport-provider']).toBe(`p0-${other.model}`);
});

test.each<[string, (model: string) => object, string]>([
  ['an unknown model', () => chatRequest('nothing'), 'model_not_found'],
  ['a request that is wrong', (model) => ({ model }), 'invalid_request'],
  ['a wish that is wrong', (model) => chatRequest(model, { provider: { sort: 1 } }), 'invalid_request'],
  ['a wish that leaves nobody', (model) => chatRequest(model, { provider: { only: ['x'] } }), 'not_found'],
])('%s is explained by its error', async (_, body, code) => {
  const at = await bench.open();
  expect((await explained(at, body(at.model))).error?.code).toBe(code);
});

test('a balance that is too small is explained', async () => {
  const at = await bench.open({ balance: 1n });
  expect((await explained(at, chatRequest(at.model))).error?.code).toBe('insufficient_balance');
});

test('the provider is named on every reply, refusals too, unless that is switched off', async () => {
  const shown = await bench.open();
  const hidden = await bench.open({ settings: { showProvider: false } });
  for (const at of [shown, hidden]) at.transport.script(wholeAnswer('hello'), errorAnswer(400, 'no'));
  for (const _ of [1, 2]) {
    const name = (await shown.serve(chatRequest(shown.model))).headers['x-modelport-provider'];
    expect(name).toBe(`p0-${shown.model}`);
    expect((await hidden.serve(chatRequest(hidden.model))).headers['x-modelport-provider']).toBeUndefined();
  }
});
