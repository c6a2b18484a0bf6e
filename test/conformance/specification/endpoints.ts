/** Rules for endpoints, credentials, errors, versions and balance. */
import { expect } from 'bun:test';
import type { Any, Rule, Sent, World } from './world.ts';
import { expectKind, refusalOf, replyOf, rule, sample, send } from './world.ts';

const JIMENG = '/vendor-b/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31';

/** Every endpoint with a request for it. `family`: the format of its errors. */
const ENDPOINTS: readonly { name: string; sent: Sent; family: 'A' | 'B' | 'C'; missing?: true }[] = [
  { name: 'POST /v1/chat/completions', sent: sample('chat'), family: 'A' },
  { name: 'POST /v1/messages', sent: sample('messages'), family: 'B' },
  { name: 'POST /v1/responses', sent: sample('responses'), family: 'A' },
  { name: 'POST /v1/completions', sent: sample('completions'), family: 'A' },
  { name: 'POST :generateContent', sent: sample('generate'), family: 'C' },
  {
    name: 'POST :generateContent/ (with a slash behind)',
    sent: { ...sample('generate'), path: '/v1beta/models/sandbox-chat:generateContent/' },
    family: 'C',
  },
  {
    name: 'POST :streamGenerateContent',
    sent: { ...sample('generate'), path: '/v1beta/models/sandbox-chat:streamGenerateContent?alt=sse' },
    family: 'C',
  },
  { name: 'POST /v1/images/generations', sent: sample('images'), family: 'A' },
  {
    name: 'POST /v1/videos',
    sent: { path: '/v1/videos', body: { model: 'sandbox-video', seconds: '1' } },
    family: 'A',
  },
  { name: 'GET /v1/videos/{task_id}', sent: { method: 'GET', path: '/v1/videos/none' }, family: 'A', missing: true },
  {
    name: 'GET /v1/video/generations/{task_id}',
    sent: { method: 'GET', path: '/v1/video/generations/none' },
    family: 'A',
    missing: true,
  },
  {
    name: 'GET /vendor-a/v1/videos/image2video/{task_id}',
    sent: { method: 'GET', path: '/vendor-a/v1/videos/image2video/none' },
    family: 'A',
    missing: true,
  },
  {
    name: 'GET /vendor-a/v1/videos/text2video/{task_id}',
    sent: { method: 'GET', path: '/vendor-a/v1/videos/text2video/none' },
    family: 'A',
    missing: true,
  },
  {
    name: 'POST /vendor-b/',
    sent: { path: JIMENG, body: { req_key: 'sandbox-video', prompt: 'A house' } },
    family: 'A',
  },
  { name: 'GET /v1/models', sent: { method: 'GET', path: '/v1/models' }, family: 'A' },
  { name: 'POST /v1/embeddings', sent: sample('embeddings'), family: 'A' },
  {
    name: 'POST /v1/engines/{model}/embeddings',
    sent: { ...sample('embeddings'), path: '/v1/engines/sandbox-embed/embeddings' },
    family: 'A',
  },
  { name: 'POST /v1/rerank', sent: sample('rerank'), family: 'A' },
];

const isReached = (status: number, missing?: true) => expect(status).toBe(missing ? 404 : 200);

function expectShape(error: Any, family: 'A' | 'B' | 'C'): void {
  expectKind(error.message, 'string');
  if (family === 'C') {
    expectKind(error.code, 'integer');
    expectKind(error.status, 'string');
    return;
  }
  expectKind(error.type, 'string');
  if (family === 'B') return;
  expectKind(error.param, 'string');
  expectKind(error.code, 'string');
}

export const ENDPOINT_RULES: readonly Rule[] = ENDPOINTS.flatMap(({ name, sent, family, missing }) => [
  rule(`${name} is there for a bearer token`, async (world) => {
    expect(world.caller.caller.key).toStartWith('sk-');
    const response = await send(world, sent);
    await response.arrayBuffer();
    isReached(response.status, missing);
  }),
  rule(`${name} is refused without a token, as an error of its format`, async (world) => {
    const { status, error } = await refusalOf(world, { ...sent, key: null });
    expect(status).toBe(401);
    expectShape(error, family);
  }),
  rule(`${name} is refused for an unknown token`, async (world) => {
    const { status, error } = await refusalOf(world, { ...sent, key: 'sk-nobody' });
    expect(status).toBe(401);
    expectShape(error, family);
  }),
  rule(`${name} does not take another method`, async (world) => {
    const { status, error } = await refusalOf(world, { ...sent, method: 'PATCH' });
    expect(status).toBe(405);
    expectShape(error, family);
  }),
]);

const MODELS_AS = { method: 'GET', path: '/v1/models', key: null } as const;
const bearer = (world: World) => world.caller.caller.key;

async function modelsAs(world: World, headers: { [name: string]: string }, query = ''): Promise<Any> {
  return replyOf(world, { ...MODELS_AS, path: `/v1/models${query}`, headers });
}

const isB = (list: Any) => expect([list.data[0].type, list.has_more]).toEqual(['model', false]);
const isC = (list: Any) => expect(list.models[0].name).toStartWith('models/');

export const CREDENTIAL_RULES: readonly Rule[] = [
  rule('messages: `x-api-key` may carry the key', async (world) => {
    const sent = sample('messages');
    const headers = { ...sent.headers, 'x-api-key': bearer(world) };
    expect((await replyOf(world, { ...sent, key: null, headers })).type).toBe('message');
  }),
  ...['vendor1-version', 'anthropic-version'].map((name) =>
    rule(`messages: the version stands in \`${name}\``, async (world) => {
      expect((await replyOf(world, { ...sample('messages'), headers: { [name]: '2023-06-01' } })).type).toBe('message');
    }),
  ),
  rule('messages: without a version the request is refused, and the header named', async (world) => {
    const { status, words } = await refusalOf(world, { ...sample('messages'), headers: {} });
    expect(status).toBe(400);
    expect(words).toContain('version');
  }),
  rule('models: `x-api-key` carries a key, and picks the list of the messages format', async (world) => {
    isB(await modelsAs(world, { 'x-api-key': bearer(world) }));
  }),
  rule('models: `vendor1-version` picks the list of the messages format', async (world) => {
    isB(await modelsAs(world, { 'vendor1-version': '2023-06-01', authorization: `Bearer ${bearer(world)}` }));
  }),
  rule('models: `x-vendor2-api-key` carries a key, and picks the list of the generateContent format', async (world) => {
    isC(await modelsAs(world, { 'x-vendor2-api-key': bearer(world) }));
  }),
  rule('models: the query `key` carries a key, and picks the list of the generateContent format', async (world) => {
    isC(await modelsAs(world, {}, `?key=${bearer(world)}`));
  }),
  rule('models: `x-api-key` goes before `x-vendor2-api-key`', async (world) => {
    isB(await modelsAs(world, { 'x-api-key': bearer(world), 'x-vendor2-api-key': bearer(world) }));
  }),
  rule('models: a bearer token alone picks the list of the chat format', async (world) => {
    expect((await replyOf(world, { method: 'GET', path: '/v1/models' })).object).toBe('list');
  }),
  rule('models: every name of the list can be called', async (world) => {
    const { data } = await replyOf(world, { method: 'GET', path: '/v1/models' });
    expect(data.map(({ id }: Any) => id)).toContain('sandbox-chat');
  }),
];

const NAMES: readonly (readonly [what: string, sent: Sent, family: 'A' | 'B' | 'C'])[] = [
  ['chat', sample('chat', {}, 'Sandbox-Chat'), 'A'],
  ['messages', sample('messages', {}, 'Sandbox-Chat'), 'B'],
  ['Responses', sample('responses', {}, 'Sandbox-Chat'), 'A'],
  ['completions', sample('completions', {}, 'Sandbox-Chat'), 'A'],
  ['generateContent', sample('generate', {}, 'Sandbox-Chat'), 'C'],
  ['images', sample('images', {}, 'Sandbox-Image'), 'A'],
  ['embeddings', sample('embeddings', {}, 'Sandbox-Embed'), 'A'],
  ['rerank', sample('rerank', {}, 'Sandbox-Rerank'), 'A'],
  ['videos', { path: '/v1/videos', body: { model: 'Sandbox-Video' } }, 'A'],
];

export const NAME_RULES: readonly Rule[] = NAMES.map(([what, sent, family]) =>
  rule(`${what}: a model's name counts with its letter case`, async (world) => {
    const { status, error, words } = await refusalOf(world, sent);
    expect(status).toBe(404);
    expectShape(error, family);
    expect(words).toContain('andbox-');
  }),
);

/** Bodies that are not a request. */
const BROKEN: readonly (readonly [what: string, sent: Sent, family: 'A' | 'B' | 'C'])[] = ENDPOINTS.filter(
  ({ sent }) => (sent.method ?? 'POST') === 'POST',
).map(({ name, sent, family }) => [name, { ...sent, body: '{"model": ' }, family]);

export const BROKEN_RULES: readonly Rule[] = BROKEN.map(([name, sent, family]) =>
  rule(`${name}: an incomplete body is refused with an error of its format`, async (world) => {
    const { status, error } = await refusalOf(world, sent);
    expect(status).toBe(400);
    expectShape(error, family);
  }),
);

export const BALANCE_RULES: readonly Rule[] = [
  ...(['chat', 'messages', 'responses', 'completions', 'generate', 'images', 'embeddings', 'rerank'] as const).map(
    (endpoint) =>
      rule(`${endpoint}: a call that the balance does not cover is refused before it is made`, async (world) => {
        const poor = await world.scene.gateway.newCaller('0');
        const { status } = await refusalOf(world, { ...sample(endpoint), key: poor.key });
        expect(status).toBe(402);
        expect(await world.scene.gateway.calls(poor)).toEqual([]);
      }),
  ),
  rule('chat: `max_tokens` raises what the balance has to cover', async (world) => {
    const poor = await world.scene.gateway.newCaller('0.001');
    const status = async (max_tokens: number) =>
      (await send(world, { ...sample('chat', { max_tokens }), key: poor.key })).status;
    expect([await status(1), await status(4096)]).toEqual([200, 402]);
  }),
  rule('calls are billed: the balance falls by the cost in the reply', async (world) => {
    const caller = await world.scene.gateway.newCaller('1');
    const response = await send(world, { ...sample('chat'), key: caller.key });
    const cost = Number(response.headers.get('x-modelport-cost'));
    await response.arrayBuffer();
    expect(cost).toBeGreaterThan(0);
    expect(Number((await world.scene.gateway.balance(caller)).available)).toBeCloseTo(1 - cost, 9);
  }),
];
