import { afterAll, expect, test } from 'bun:test';
import { loadConfig } from './config.ts';
import { providerVariables } from './found-providers.ts';
import { createModelLists } from './model-lists.ts';
import { createTransport } from './transport/transport.ts';

/** What the provider at this path answers; a function sees the request. */
type Reply = Response | ((request: Request) => Response | Promise<Response>);

const json =
  (value: unknown, status = 200) =>
  () =>
    Response.json(value, { status });
const requests: { path: string; query: string; headers: Headers }[] = [];
const REPLIES: { [place: string]: Reply } = {
  openai: json({ object: 'list', data: [{ id: 'b' }, { id: 'a' }, { id: 'a' }, { id: 'text-embedding-3-small' }] }),
  array: json([{ id: 'meta/llama', type: 'chat' }]),
  refuses: json({ error: { message: 'No such key: sk-pasted' } }, 401),
  forbids: json({}, 403),
  missing: json({}, 404),
  text: () => new Response('Not Found', { status: 200 }),
  html: () => new Response('<!doctype html><h1>Sign in</h1>', { headers: { 'content-type': 'text/html' } }),
  number: json(7),
  nothing: () => new Response(null, { status: 200 }),
  types: json({
    data: [
      7,
      null,
      { id: 7 },
      { id: '' },
      { id: 'two words' },
      { id: 'a\u0000b' },
      { id: 'x'.repeat(201) },
      { id: 'ok' },
    ],
  }),
  moved: () => new Response(null, { status: 302, headers: { location: `${base('openai')}/models` } }),
  large: () => new Response(`{"data":[{"id":"${'x'.repeat(10_000_000)}"}]}`),
  many: json({ data: Array.from({ length: 2500 }, (_, n) => ({ id: `m${n}` })) }),
  hangs: () => new Promise<Response>(() => {}),
  circle: json({ data: [{ id: 'a' }], has_more: true, last_id: 'a' }),
  endless: (request) => {
    const page = Number(new URL(request.url).searchParams.get('after_id') ?? 0) + 1;
    return Response.json({ data: [{ id: `page-${page}` }], has_more: true, last_id: String(page) });
  },
  anthropic: (request) => {
    const after = new URL(request.url).searchParams.get('after_id');
    if (after === null) return Response.json({ data: [{ id: 'claude-one' }], has_more: true, last_id: 'claude-one' });
    return Response.json({ data: [{ id: `claude-after-${after}` }], has_more: false, last_id: 'z' });
  },
  google: (request) => {
    const token = new URL(request.url).searchParams.get('pageToken');
    if (token === 'next page&') return Response.json({ models: [{ name: 'models/gemini-two' }] });
    return Response.json({ models: [{ name: 'models/gemini-one' }], nextPageToken: 'next page&' });
  },
  // Lists its models for everybody; its other path knows the key.
  open: (request) =>
    new URL(request.url).pathname.endsWith('/key')
      ? Response.json({}, { status: 401 })
      : Response.json({ data: [{ id: 'a' }] }),
};

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    requests.push({ path: pathname, query: search, headers: request.headers });
    const reply = REPLIES[pathname.split('/')[1] ?? ''];
    return typeof reply === 'function' ? reply(request) : (reply ?? new Response(null, { status: 500 }));
  },
});
afterAll(() => server.stop(true));

const base = (place: string) => `http://127.0.0.1:${server.port}/${place}`;
const config = (env = {}) => loadConfig(env, providerVariables(), '/nowhere');
const lists = createModelLists(createTransport(), config);
const KEY = 'sk-pasted';
const rowAt = (place: string, type = 'openai-compatible', credential: string | undefined = KEY) => ({
  ...{ name: 'typed', type, settings: {}, baseUrl: base(place) },
  credentials: credential === undefined ? [] : [credential],
});
const found = async (place: string, type?: string) => (await lists(rowAt(place, type), false)) ?? 'no address';
const ids = async (place: string, type?: string) => {
  const list = await found(place, type);
  return list === 'no address' ? list : { ...list, models: list.models.map(({ id }) => id) };
};

test('lists of all forms are read, page by page, with the list prices of known models', async () => {
  expect(await found('openai', 'openai')).toEqual({
    hasMore: false,
    models: [
      { id: 'a' },
      { id: 'b' },
      expect.objectContaining({ id: 'text-embedding-3-small', kind: 'embed', price: { input: '0.02' } }),
    ],
  });
  expect(await ids('array', 'together')).toEqual({ hasMore: false, models: ['meta/llama'] });
  expect(await ids('anthropic', 'anthropic')).toEqual({
    hasMore: false,
    models: ['claude-after-claude-one', 'claude-one'],
  });
  expect(requests.at(-1)).toMatchObject({ path: '/anthropic/v1/models', query: '?limit=1000&after_id=claude-one' });
  expect(requests.at(-1)?.headers.get('x-api-key')).toBe(KEY);
  expect(await ids('google', 'google')).toEqual({ hasMore: false, models: ['gemini-one', 'gemini-two'] });
  expect(requests.at(-1)).toMatchObject({
    path: '/google/v1beta/models',
    query: '?pageSize=1000&pageToken=next%20page%26',
  });
  expect(requests.at(-1)?.headers.get('x-goog-api-key')).toBe(KEY);
});

test('an invalid answer of a provider is reported with the reason, without its text and without the key', async () => {
  const refused = { code: 'credential_refused' as const, message: 'The provider refused the credential (status 401).' };
  expect(await ids('refuses')).toEqual({ models: [], hasMore: false, problem: refused });
  expect(await ids('open', 'openrouter')).toEqual({ models: [], hasMore: false, problem: refused });
  expect(await ids('forbids')).toMatchObject({ problem: { code: 'credential_refused' } });
  const noList = { models: [], hasMore: false, problem: { code: 'no_list' } };
  for (const place of ['missing', 'text', 'html', 'number', 'nothing', 'moved', 'broken'])
    expect([place, await ids(place)]).toMatchObject([place, noList]);
  expect(await ids('types')).toEqual({ models: ['ok'], hasMore: false });
  // A redirect is not followed: it would take the credential elsewhere.
  expect(requests.some(({ path, headers }) => path === '/openai/models' && headers.get('authorization') === null)).toBe(
    false,
  );
});

test('size, pages and time are bounded', async () => {
  expect(await ids('large')).toMatchObject({ models: [], problem: { code: 'unreachable' } });
  const many = await lists(rowAt('many'), false);
  expect([many?.hasMore, many?.models.length]).toEqual([true, 2000]);
  expect(await ids('circle')).toEqual({ models: ['a'], hasMore: false });
  expect(await ids('endless')).toMatchObject({ hasMore: true });
  expect(requests.filter(({ path }) => path === '/endless/models')).toHaveLength(20);
  const short = { connectMs: 5000, headersMs: 100, firstTokenMs: 100, silenceMs: 100, wholeMs: 5000 };
  const hurried = createModelLists(createTransport(), config, short);
  expect(await hurried(rowAt('hangs'), false)).toMatchObject({ models: [], problem: { code: 'unreachable' } });
  const closed = { ...rowAt('openai'), baseUrl: 'http://127.0.0.1:1/v1' };
  expect(await lists(closed, false)).toMatchObject({ models: [], problem: { code: 'unreachable' } });
});

test('a key that is invalid in a header is a failure that does not quote it', async () => {
  const list = await lists({ ...rowAt('openai'), credentials: ['sk-line\r\nx-evil: 1'] }, false);
  expect(list).toMatchObject({ models: [], problem: { code: 'unreachable' } });
  expect(JSON.stringify(list)).not.toContain('sk-line');
});

test('the credential of the environment goes to the address that is configured with it alone', async () => {
  const env = { VLLM_API_KEY: 'sk-environment', VLLM_BASE_URL: base('openai') };
  const configured = createModelLists(createTransport(), () => config(env));
  const bare = { name: 'typed', type: 'vllm', credentials: [], settings: {} };
  expect(await configured(bare, false)).toMatchObject({ hasMore: false });
  expect(requests.at(-1)?.headers.get('authorization')).toBe('Bearer sk-environment');
  await configured({ ...bare, baseUrl: base('array') }, false);
  expect(requests.at(-1)).toMatchObject({ path: '/array/models' });
  expect(requests.at(-1)?.headers.get('authorization')).toBeNull();
  await configured({ ...bare, baseUrl: base('array') }, true);
  expect(requests.at(-1)?.headers.get('authorization')).toBe('Bearer sk-environment');
  expect(configured({ ...bare, type: 'nothing' }, false)).toBeUndefined();
  expect(configured({ ...bare, type: 'openai-compatible' }, false)).toBeUndefined();
});
