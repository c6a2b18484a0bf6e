import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, type GatewayCase, PRICE, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { callerOf } from '../../access/access.ts';
import { applyCatalogue } from '../../catalog/apply.ts';
import { dialectNamed } from '../../dialects/index.ts';
import type { Explanation } from './explain.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

function explained(at: GatewayCase, body: object, caller = at.caller): Promise<Explanation> {
  const dialect = dialectNamed('openai-chat');
  if (!dialect) throw new Error('There is no such format.');
  return at.gateway.explain(dialect, caller, {
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

test('the explanation matches the call: models, order, hold; nothing is sent, held or recorded', async () => {
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
  [
    'a routing wish without a remaining target',
    (model) => chatRequest(model, { provider: { only: ['x'] } }),
    'not_found',
  ],
])('%s is explained by its error', async (_, body, code) => {
  const at = await bench.open();
  expect((await explained(at, body(at.model))).error?.code).toBe(code);
});

test('a balance that is too small is explained', async () => {
  const at = await bench.open({ balance: 1n });
  expect((await explained(at, chatRequest(at.model))).error?.code).toBe('insufficient_balance');
});

describe('limits, balance and budgets', () => {
  const LIMITED = {
    requestsPerMinute: 2,
    tokensPerMinute: 400,
    concurrency: 3,
    budget: { total: 1_000_000n, day: 900_000n },
  };
  const brief = ({ checks }: Explanation) =>
    checks.map(({ check, window, used, needs, passes }) => [window ?? check, used, needs, passes]);

  test('are listed in the order in which a call meets them, and explaining counts and holds nothing', async () => {
    const at = await bench.open({ key: LIMITED });
    at.transport.script(wholeAnswer('one'));
    await at.serve(chatRequest(at.model));
    const first = await explained(at, chatRequest(at.model));
    const { hold = 0n, models } = first;
    const tokens = (models[0]?.estimatedInputTokens ?? 0) + 100;
    expect(brief(first)).toEqual([
      ['key', undefined, undefined, true],
      ['concurrency', 0, 1, true],
      ['requestsPerMinute', 1, 1, true],
      ['tokensPerMinute', 18, tokens, true],
      ['balance', 0n, hold, true],
      ['total', 39_000n, hold, true],
      ['day', 39_000n, hold, true],
    ]);
    expect(first.error).toBeUndefined();
    expect(first.checks.map(({ reason }) => reason)).toContain(
      `1 of the 2 requests of a minute of this key are used, and the call needs 1.`,
    );
    expect(await explained(at, chatRequest(at.model))).toEqual(first);
    expect([await at.held(), at.calls.length, at.transport.sent.length]).toEqual([0n, 1, 1]);
  });

  test.each<[string, CaseSetup, string, string]>([
    ['requests', { key: { requestsPerMinute: 1 } }, 'rate_limited', 'requestsPerMinute'],
    ['tokens', { key: { tokensPerMinute: 130 } }, 'rate_limited', 'tokensPerMinute'],
    [
      'tokens that no minute has',
      { key: { tokensPerMinute: 20 }, model: { maxOutputTokens: 2 } },
      'rate_limited',
      'tokensPerMinute',
    ],
    ['a budget', { key: { budget: { month: 440_000n } } }, 'budget_exhausted', 'month'],
    ['the balance', { balance: 440_000n }, 'insufficient_balance', 'balance'],
  ])('%s: the error is the one that the call gets', async (_, setup, code, failing) => {
    const at = await bench.open(setup);
    at.transport.script(wholeAnswer('one'), wholeAnswer('two'));
    await at.serve(chatRequest(at.model, { max_tokens: setup.model ? 1 : 100 }));
    const body = chatRequest(at.model, { max_tokens: 100 });
    const { error, checks } = await explained(at, body);
    const answer = await at.serve(body);
    const real = JSON.parse(String(answer.body)).error;
    expect([error?.code, error?.status]).toEqual([code, answer.status]);
    expect(real.code).toBe(code);
    if (code === 'rate_limited') expect(error?.message).toBe(real.message);
    expect(error?.retryAfterSeconds).toBe(
      answer.headers['retry-after'] === undefined ? undefined : Number(answer.headers['retry-after']),
    );
    const failed: string[] = checks.filter(({ passes }) => !passes).map(({ check, window }) => window ?? check);
    expect(failed).toEqual([failing]);
  });

  test('of a disabled key, and of a disabled account', async () => {
    const at = await bench.open();
    const caller = callerOf({ ...at.caller.row, disabledAt: 1 }, undefined);
    expect((await explained(at, chatRequest(at.model), caller)).error?.code).toBe('key_disabled');
    await bench.store.updateAccount(at.caller.account, { disabledAt: 1 });
    const { error, checks } = await explained(at, chatRequest(at.model));
    expect([error?.code, checks[0]?.passes]).toEqual(['key_disabled', false]);
  });

  test('of a call that the cache answers: its price and no tokens, whatever its targets are', async () => {
    const price = { ...PRICE, perCacheHit: 0.000000005 };
    const at = await bench.open({ key: { cacheSeconds: 60, tokensPerMinute: 210 }, model: { price } });
    at.transport.script(wholeAnswer('one'));
    expect((await explained(at, chatRequest(at.model))).cache).toBe('miss');
    await at.serve(chatRequest(at.model));
    const { cache, hold, error, checks } = await explained(at, chatRequest(at.model));
    expect([cache, hold, error]).toEqual(['hit', 5n, undefined]);
    expect(checks.find(({ check }) => check === 'tokensPerMinute')).toMatchObject({ used: 18, needs: 0, passes: true });
    expect((await at.serve(chatRequest(at.model))).headers['x-modelport-cache']).toBe('hit');
  });
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

test('a name of a provider that no header can contain is named as far as one can', async () => {
  const at = await bench.open({ provider: { name: 'Ünser-提供者' } });
  at.transport.script(wholeAnswer('hello'), errorAnswer(400, 'no'));
  for (const _ of [1, 2])
    expect((await at.serve(chatRequest(at.model))).headers['x-modelport-provider']).toBe('Ünser-???');
});
