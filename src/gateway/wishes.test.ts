import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { type CaseSetup, type GatewayCase, PRICE, startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import { applyCatalogue } from '../catalog/apply.ts';
import type { Answer } from '../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const hosts = ({ transport }: GatewayCase) => transport.sent.map(({ host }) => host);
const bodyOf = ({ body }: Answer) => JSON.parse(Buffer.from(body as Uint8Array).toString());
const errorOf = ({ body }: Answer) => JSON.parse(String(body)).error;

/** A case of several targets, all of which fail, and what they were sent. */
async function tried(members: object, setup: CaseSetup = {}, headers: { [name: string]: string } = {}) {
  const at = await bench.open({ targets: 3, model: { retries: 0 }, ...setup });
  at.transport.script(...Array.from({ length: 5 }, () => errorAnswer(503, 'down')));
  const answer = await at.serve(chatRequest(at.model, named(members, at.model)), { headers });
  return { at, answer, hosts: hosts(at) };
}

/** `0` is the case's first provider, by its name. */
function named(members: object, model: string): { [member: string]: unknown } {
  return JSON.parse(JSON.stringify(members).replaceAll(/"(\d)"/g, `"p$1-${model}"`));
}

describe('providers', () => {
  test.each<[string, object, string[]]>([
    ['an order', { order: ['2', '0'] }, ['p2.test', 'p0.test', 'p1.test']],
    ['an order without fallbacks', { order: ['1'], allow_fallbacks: false }, ['p1.test']],
    ['no fallbacks', { allow_fallbacks: false }, ['p0.test']],
    ['some only', { only: ['1', '2'] }, ['p1.test', 'p2.test']],
    ['none of some', { ignore: ['1'] }, ['p0.test', 'p2.test']],
    ['a type', { only: ['openai-compatible'] }, ['p0.test', 'p1.test', 'p2.test']],
  ])('%s', async (_, provider, expected) => {
    expect((await tried({ provider })).hosts).toEqual(expected);
  });

  test('nothing of it is sent upstream, and nothing of it is reported as lost', async () => {
    const at = await bench.open();
    const other = await bench.open({ type: 'anthropic' });
    const members = { provider: { allow_fallbacks: true }, models: [], route: 'fallback' };
    for (const one of [at, other]) {
      one.transport.script(wholeAnswer('hello'), wholeAnswer('hello'));
      const answer = await one.serve(chatRequest(one.model, { ...members, user: 'u' }));
      expect(answer.headers['x-modelport-warnings'] ?? '').not.toContain('provider');
      for (const member of Object.keys(members)) expect(one.transport.sent[0]?.body).not.toHaveProperty(member);
    }
    expect(at.transport.sent[0]?.body).toEqual({ ...chatRequest('upstream'), user: 'u' });
  });

  test.each<[string, object]>([
    ['only others', { only: ['nobody'] }],
    ['none at all', { ignore: ['openai-compatible'] }],
    ['a price below the model’s', { max_price: { prompt: 0.5 } }],
    ['a price of the output below it', { max_price: { prompt: 1, completion: 3.99 } }],
  ])('%s: 404 in OpenRouter’s words, nothing is held or sent', async (_, provider) => {
    const { at, answer, hosts: sentTo } = await tried({ provider });
    expect([answer.status, errorOf(answer).message]).toEqual([404, expect.stringContaining('No allowed provider')]);
    expect([sentTo, await at.held(), at.calls]).toEqual([[], 0n, []]);
  });

  test('a price that covers the model is no obstacle', async () => {
    expect((await tried({ provider: { max_price: { prompt: 1, completion: '4.0' } } })).hosts).toHaveLength(3);
  });

  test.each<[string, object, object]>([
    ['a tier of long inputs', { ...PRICE, tiers: [{ from: 5, input: 2, output: 4 }] }, { prompt: 1.5 }],
    ['reasoning', { ...PRICE, reasoning: 9 }, { completion: 4 }],
    [
      'a row of the images',
      { ...PRICE, perImage: [{ price: 0.01 }, { size: '1024x1024', price: 0.2 }] },
      { image: 0.01 },
    ],
    ['a price by the character', { perMillionCharacters: 15, ...PRICE }, { prompt: 14 }],
    ['a price by the second', { perSecond: 0.01, ...PRICE }, { audio: 0.009 }],
  ])('%s above the limit of the price: 404', async (_, price, max) => {
    const { answer, hosts: sentTo } = await tried({ provider: { max_price: max } }, { model: { price } });
    expect([answer.status, sentTo]).toEqual([404, []]);
  });

  test('a tier that begins above the input is no obstacle', async () => {
    const model = { price: { ...PRICE, tiers: [{ from: 500, input: 2, output: 4 }] }, retries: 0 };
    expect((await tried({ provider: { max_price: { prompt: 1.5 } } }, { model })).hosts).toHaveLength(3);
  });

  test.each<[string, unknown]>([
    ['an empty object', {}],
    ['an object', { a: 1 }],
    ['a name', 'm'],
    ['a number', 5],
  ])('`models` that is %s is a 400 in every format', async (_, models) => {
    for (const [dialect, request] of [
      ['openai-chat', { messages: [{ role: 'user', content: 'Hi' }] }],
      ['openai-responses', { input: 'Hi' }],
      ['anthropic-messages', { max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }],
    ] as const) {
      const at = await bench.open();
      const headers = { 'anthropic-version': '2023-06-01' };
      const answer = await at.serve({ model: at.model, models, ...request }, { dialect, headers });
      const { error } = JSON.parse(Buffer.from(answer.body as Uint8Array).toString());
      expect([dialect, answer.status, error.message]).toEqual([dialect, 400, expect.stringContaining('`models`')]);
      expect(at.transport.sent).toHaveLength(0);
    }
  });

  test('bad values are a 400 that names the member', async () => {
    const { answer } = await tried({ provider: { sort: 'beauty' } });
    expect([answer.status, errorOf(answer).param]).toEqual([400, 'provider.sort']);
  });

  test('a provider that does not support a parameter is skipped if all parameters are required', async () => {
    const at = await bench.open({ targets: 1 });
    const strange = await bench.open({ type: 'anthropic' });
    const [own] = (await bench.store.models()).filter(({ name }) => name === at.model);
    const targets = [{ provider: `p0-${strange.model}`, model: 'claude', priority: -1 }, ...(own?.targets ?? [])];
    await applyCatalogue(bench.store, { models: [{ name: at.model, price: PRICE, targets }] }, 0);
    await at.deps.catalog.reload();
    at.transport.script(wholeAnswer('hello'));
    const body = chatRequest(at.model, { logit_bias: { '1': 2 }, provider: { require_parameters: true } });
    expect((await at.serve(body)).status).toBe(200);
    expect(at.calls).toMatchObject([{ provider: `p0-${at.model}` }]);
    const only = { require_parameters: true, only: ['anthropic'] };
    const refused = await at.serve({ ...body, provider: only });
    expect([refused.status, errorOf(refused).param]).toEqual([400, 'provider.require_parameters']);
  });

  test('OpenRouter gets them only if its operator enables that, bounded by the price', async () => {
    const provider = { order: ['deepinfra'], max_price: { prompt: 9 } };
    for (const callerRouting of ['pass', undefined]) {
      const at = await bench.open({ type: 'openrouter' });
      const [row] = (await bench.store.providers()).filter(({ name }) => name === `p0-${at.model}`);
      await bench.store.saveProvider({ ...row!, settings: callerRouting ? { callerRouting } : {} });
      await at.deps.catalog.reload();
      at.transport.script(wholeAnswer('hello'));
      await at.serve(chatRequest(at.model, { provider }));
      const expected = callerRouting && { ...provider, max_price: { prompt: 1, completion: 4 } };
      expect(at.transport.sent[0]?.body.provider).toEqual(expected);
    }
  });
});

describe('models', () => {
  test('the next model answers for any reason, at its own price', async () => {
    const at = await bench.open();
    const other = await bench.open({ model: { price: { input: 2, output: 8 } } });
    at.transport.script(errorAnswer(503, 'down'), wholeAnswer('hello'));
    const answer = await at.serve(chatRequest(at.model, { models: [at.model, other.model] }));
    expect(bodyOf(answer).model).toBe(other.model);
    expect(at.calls).toMatchObject([{ model: other.model, cost: 2n * (11n * 1000n + 7n * 4000n) }]);
  });

  test('a key that is limited to aliases may name them', async () => {
    const other = await bench.open({ model: { aliases: ['best-of-all'] } });
    const at = await bench.open({
      model: { aliases: ['first-of-all'] },
      key: { models: ['first-of-all', 'best-of-all'] },
    });
    at.transport.script(errorAnswer(503, 'down'), wholeAnswer('hello'));
    const answer = await at.serve(chatRequest('first-of-all', { models: ['best-of-all'] }));
    expect([answer.status, at.calls.map(({ model }) => model)]).toEqual([200, [other.model]]);
  });

  test.each(['openai-chat', 'openai-responses', 'anthropic-messages'])('%s: without `model`', async (dialect) => {
    const at = await bench.open();
    at.transport.script(wholeAnswer('hello'));
    const { messages } = chatRequest('');
    const text = dialect === 'openai-responses' ? { input: 'Hello' } : { messages, max_tokens: 5 };
    const answer = await at.serve(
      { ...text, models: [at.model] },
      { dialect, headers: { 'anthropic-version': '2023-06-01' } },
    );
    expect([answer.status, at.transport.sent[0]?.body.models]).toEqual([200, undefined]);
    expect(at.calls).toMatchObject([{ model: at.model }]);
  });

  test('one whose providers the caller excludes is skipped', async () => {
    const at = await bench.open();
    const other = await bench.open();
    at.transport.script(wholeAnswer('hello'));
    await at.serve(chatRequest(at.model, { models: [other.model], provider: { ignore: [`p0-${at.model}`] } }));
    expect(at.calls).toMatchObject([{ model: other.model }]);
  });

  test.each<[string, unknown, number, string]>([
    ['no list', 'm', 400, 'models'],
    ['no name', [3], 400, 'models[0]'],
    ['an unknown one', ['nothing'], 404, 'models[0]'],
  ])('%s is named', async (_, models, status, param) => {
    const { answer } = await tried({ models });
    expect([answer.status, errorOf(answer).param]).toEqual([status, param]);
  });

  test('a model of another kind is named; one that the key may not call is refused', async () => {
    const other = await bench.open({ model: { kind: 'embed', price: { input: 1 } } });
    const wrong = await tried({ models: [other.model] });
    expect(errorOf(wrong.answer)).toMatchObject({ param: 'models[0]', message: expect.stringContaining('kind embed') });
    const at = await bench.open();
    at.caller.models = new Set([at.model]);
    expect((await at.serve(chatRequest(at.model, { models: [other.model] }))).status).toBe(403);
  });
});

describe('other ways to express wishes', () => {
  test('in headers, for formats without members for them', async () => {
    const at = await bench.open({ targets: 2, model: { retries: 0 } });
    at.transport.script(errorAnswer(503, 'down'), errorAnswer(503, 'down'));
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
    const headers = { 'x-modelport-provider-order': `p1-${at.model}, x`, 'x-modelport-allow-fallbacks': 'false' };
    await at.serve(body, { dialect: 'gemini', headers, path: { model: at.model, action: 'generateContent' } });
    expect(hosts(at)).toEqual(['p1.test']);
  });

  test('the body has precedence over the headers, member by member', async () => {
    const headers = { 'x-modelport-provider-order': 'none', 'x-modelport-provider-ignore': 'none' };
    expect((await tried({ provider: { order: ['2'], only: ['2', '0'] } }, {}, headers)).hosts).toEqual([
      'p2.test',
      'p0.test',
    ]);
  });

  test('an error in a header names the header', async () => {
    const { answer } = await tried({}, {}, { 'x-modelport-max-price': 'prompt=cheap' });
    expect([answer.status, errorOf(answer).param]).toEqual([400, 'x-modelport-max-price']);
  });

  test('suffixes are no part of the name, unless a model is called so', async () => {
    const at = await bench.open();
    at.transport.script(wholeAnswer('1'), wholeAnswer('2'));
    for (const suffix of [':nitro', ':floor'])
      expect((await at.serve(chatRequest(at.model + suffix))).status).toBe(200);
    expect(at.calls.map(({ model }) => model)).toEqual([at.model, at.model]);
    expect((await at.serve(chatRequest(`${at.model}:free`))).status).toBe(404);
    const [own] = (await bench.store.models()).filter(({ name }) => name === at.model);
    const literal = { name: `${at.model}:nitro`, price: PRICE, targets: own?.targets };
    await applyCatalogue(bench.store, { models: [literal] }, 0);
    await at.deps.catalog.reload();
    at.transport.script(wholeAnswer('3'));
    await at.serve(chatRequest(literal.name));
    expect(at.calls.at(-1)?.model).toBe(literal.name);
  });
});

test.each<[string, object, { [name: string]: string }]>([
  ['provider', { provider: { sort: 'price' } }, {}],
  ['models', { models: [] }, {}],
  ['a header', {}, { 'x-modelport-provider-only': 'p' }],
])('a key that may not use %s gets an error', async (_, members, headers) => {
  const { answer, hosts: sentTo } = await tried(members, { key: { callerRouting: false } }, headers);
  expect([answer.status, errorOf(answer).code, sentTo]).toEqual([403, 'routing_not_allowed', []]);
});

test('a key without wishes can do everything else', async () => {
  const at = await bench.open({ key: { callerRouting: false } });
  at.transport.script(wholeAnswer('hello'));
  expect((await at.serve(chatRequest(at.model))).status).toBe(200);
  expect((await at.serve(chatRequest(`${at.model}:nitro`))).status).toBe(403);
});
