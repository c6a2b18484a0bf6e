/** Errors for clients with a wrong base URL, method, key or endpoint. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { pathMeant } from './unrouted.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

async function refusal(method: string, path: string, headers: { [name: string]: string } = {}, key?: null) {
  const response = await edge.ask(method, path, { headers, ...(key === null && { key }) });
  const { error } = (await response.json()) as { error: { message: string; status?: string; code: unknown } };
  return { status: response.status, error, headers: response.headers };
}

test('what is under /v1 is also under /openai/v1, and nothing else is', async () => {
  const models = await edge.ask('GET', '/openai/v1/models');
  expect(models.status).toBe(200);
  expect(await models.json()).toMatchObject({ object: 'list' });
  expect((await refusal('GET', '/openai/v1/chat/completions')).status).toBe(405);
  for (const path of [
    '/openai/admin/v1/accounts',
    '/openai/v1beta/models',
    '/openai/openai/v1/models',
    '/%6fpenai/v1/models',
  ])
    expect({ path, status: (await refusal('GET', path)).status }).toEqual({ path, status: 404 });
});

test('a WebSocket request to a POST path is refused with a hint to use HTTP', async () => {
  const upgrade = { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-version': '13' };
  const { status, error, headers } = await refusal('GET', '/v1/responses', upgrade);
  expect(status).toBe(426);
  expect(error.message).toContain('POST /v1/responses');
  expect(headers.get('upgrade')).toBe('HTTP/1.1');
  expect((await refusal('GET', '/v1/responses')).status).toBe(405);
});

test.each([
  ['POST', '/chat/completions', '/v1/chat/completions'],
  ['POST', '/messages', '/v1/messages'],
  ['POST', '/v1/v1/messages', '/v1/messages'],
  ['POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
  ['POST', '/v1/v1beta/models/x:generateContent', '/v1beta/models/x:generateContent'],
  ['POST', '/models/x:generateContent', '/v1/models/x:generateContent'],
  ['POST', '/v1/chat/completions/chat/completions', '/v1/chat/completions'],
  ['GET', '/api/v1/models', '/v1/models'],
  ['GET', '/models', '/v1/models'],
  ['POST', '/v1//chat/completions', '/v1/chat/completions'],
  ['POST', '/V1/chat/completions', '/v1/chat/completions'],
  ['POST', '/anthropic/v1/messages', '/v1/messages'],
  ['POST', '/api/openai/v1/responses', '/v1/responses'],
  ['POST', '/v1beta/openai/chat/completions', '/v1/chat/completions'],
  ['POST', '/openai/deployments/gpt-4o/chat/completions?api-version=1', '/v1/chat/completions'],
])('%s %s names the correct base URL', async (method, path, meant) => {
  const { status, error } = await refusal(method, path);
  expect(status).toBe(404);
  expect(error.message).toContain(`did you mean ${meant}?`);
  expect(error.message).toContain('ends in `/v1`, once');
});

test.each(['/v1', '/v1/', '/v1beta', '/openai/v1/'])('%s alone is called a base URL', async (path) => {
  for (const method of ['GET', 'POST']) {
    const { status, error } = await refusal(method, path);
    expect(status).toBe(404);
    expect(error.message).toContain('is a base URL, not an endpoint');
  }
});

test('a path that resembles no route gets no suggestion', async () => {
  expect((await refusal('GET', '/nothing/at/all')).error.message).not.toContain('did you mean');
  let lookups = 0;
  expect(pathMeant(`/${'a/'.repeat(4000)}`, () => ++lookups > 0)).toBeUndefined();
  expect(lookups).toBe(0);
});

test.each([
  '/v1/files',
  '/v1/files/file-1',
  '/v1/batches',
  '/v1/messages/batches',
  '/v1/assistants',
  '/v1/fine_tuning/jobs',
  '/v1/complete',
  '/v1/cachedContents',
  '/v1beta/cachedContents',
  '/v1/containers',
])('%s is answered as not offered', async (path) => {
  const { status, error } = await refusal('POST', path);
  expect(status).toBe(404);
  expect(error.message).toMatch(/^[A-Z].*s( of .*)? are not offered/);
});

test.each(['/upload/v1beta/files', '/upload/v1beta/files?uploadType=resumable', '/v1beta/files', '/v1beta/files/abc'])(
  "an upload by Google’s clients (%s) is refused in Google's format with an alternative",
  async (path) => {
    const { status, error } = await refusal('POST', path);
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    expect(error.message).toContain('inlineData');
  },
);

test('an action of a model supports only POST', async () => {
  for (const method of ['GET', 'PUT', 'DELETE'])
    for (const prefix of ['/v1beta', '/v1'])
      for (const action of [
        'generateContent',
        'streamGenerateContent',
        'countTokens',
        'embedContent',
        'generateContent/',
      ]) {
        const { status, error, headers } = await refusal(method, `${prefix}/models/x:${action}`);
        expect({ method, action, status }).toEqual({ method, action, status: 405 });
        expect(headers.get('allow')).toBe('POST, OPTIONS');
        expect(error.status).toBe('INVALID_ARGUMENT');
      }
  expect((await refusal('GET', '/v1beta/models/gemma:2b')).status).toBe(404);
});

test.each([
  ['the header `x-api-key`', { 'x-api-key': 'sk-hidden' }, ''],
  ['the header `x-goog-api-key`', { 'x-goog-api-key': 'sk-hidden' }, ''],
  ['the header `api-key`', { 'api-key': 'sk-hidden' }, ''],
  ['the query (`key`)', {}, '?key=sk-hidden'],
  ['`authorization`', { authorization: 'sk-hidden' }, ''],
  ['`authorization`', { authorization: 'Basic sk-hidden' }, ''],
] as const)('a key in %s, which is not read, is named in the error', async (place, headers, query) => {
  for (const path of ['/v1/balance', '/v1/responses/resp_1']) {
    const { status, error } = await refusal('GET', path + query, headers, null);
    expect(status).toBe(401);
    expect(error.code).toBe('invalid_api_key');
    expect(error.message).toContain(place);
    expect(error.message).toContain('Authorization: Bearer');
    expect(error.message).not.toContain('hidden');
  }
});
