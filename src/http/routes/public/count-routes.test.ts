import { expect, test } from 'bun:test';
import { forTests } from '../../../../test/helpers/for-tests.ts';
import { startCatalogueLoopback } from '../../../../test/helpers/loopback.ts';

const VERSION = { 'anthropic-version': '2023-06-01' };
const TEXT = 'one two three '.repeat(30);
const MESSAGES = { model: 'alpha', messages: [{ role: 'user', content: TEXT }] };
const CONTENTS = [{ parts: [{ text: TEXT }] }];

const edge = forTests(startCatalogueLoopback, (started) => started.stop());

async function counted(path: string, body: unknown, headers: { [name: string]: string } = VERSION) {
  const response = await edge.ask('POST', path, {
    key: null,
    headers: { 'x-api-key': edge.callerKey, ...headers },
    body,
  });
  return { status: response.status, body: (await response.json()) as Counted };
}
interface Counted {
  input_tokens?: number;
  totalTokens?: number;
  error?: { message: string };
}

test('tokens of messages are counted with their tools and images', async () => {
  const { status, body } = await counted('/v1/messages/count_tokens?beta=true', MESSAGES);
  expect([status, Object.keys(body)]).toEqual([200, ['input_tokens']]);
  expect(body.input_tokens).toBeGreaterThan(100);
  expect(body.input_tokens).toBeLessThan(200);
  const tools = [{ name: 'get', description: TEXT, input_schema: { type: 'object' } }];
  const more = await counted('/v1/messages/count_tokens', { ...MESSAGES, tools, system: TEXT });
  expect(more.body.input_tokens).toBeGreaterThan(2 * (body.input_tokens ?? 0));
});

test('key and model are checked as in a call', async () => {
  const path = '/v1/messages/count_tokens';
  expect((await counted(path, MESSAGES, { 'x-api-key': 'sk-wrong' })).status).toBe(401);
  const unversioned = await counted(path, MESSAGES, {});
  expect([unversioned.status, unversioned.body.error?.message]).toEqual([
    400,
    expect.stringContaining('anthropic-version'),
  ]);
  expect(await counted(path, { ...MESSAGES, model: 'nobody' })).toMatchObject({
    status: 404,
    body: { type: 'error', error: { type: 'not_found_error' } },
  });
  expect((await counted(path, { model: 'alpha' })).status).toBe(400);
});

test('a key can count only for models that it may call', async () => {
  const key = await edge.issue('caller', { models: ['team/beta-2'] });
  expect((await counted('/v1/messages/count_tokens', MESSAGES, { ...VERSION, 'x-api-key': key })).status).toBe(403);
});

test.each([
  '/v1beta/models/alpha:countTokens',
  '/v1/models/alpha:countTokens',
  '/v1/models/models/alpha:countTokens/',
  '/v1beta/models/team%2Fbeta-2:countTokens',
  '/v1beta/models/team/beta-2:countTokens',
  '/v1beta/models/gamma:8b:countTokens',
])('POST %s', async (path) => {
  const key = { 'x-goog-api-key': edge.callerKey };
  const ask = async (body: unknown) => {
    const response = await edge.ask('POST', path, { key: null, headers: key, body });
    expect(response.status).toBe(200);
    return ((await response.json()) as Counted).totalTokens ?? 0;
  };
  const alone = await ask({ contents: CONTENTS });
  expect(alone).toBeGreaterThan(100);
  const systemInstruction = { parts: [{ text: TEXT }] };
  const whole = await ask({ generateContentRequest: { model: 'models/x', contents: CONTENTS, systemInstruction } });
  expect(whole).toBeGreaterThan(1.8 * alone);
});

test("errors on Google's paths have Google's format", async () => {
  for (const path of ['/v1/models/nobody:countTokens', '/v1beta/models/nobody:countTokens']) {
    const response = await edge.ask('POST', path, { body: { contents: CONTENTS } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    const stranger = await edge.ask('POST', `${path}?key=sk-wrong`, { key: null, body: { contents: CONTENTS } });
    expect(await stranger.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED' } });
    const read = await edge.ask('GET', path);
    expect(await read.json()).toMatchObject({ error: { code: 405, status: 'INVALID_ARGUMENT' } });
  }
});
