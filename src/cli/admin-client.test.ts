/** What a command says where its server is another one than it should be, or none. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/loopback.ts';
import { runAsProcess } from '../../test/run-as-process.ts';
import { askServer } from '../transport/ask-server.ts';
import { createAdminClient } from './admin-client.ts';
import type { Ask } from './cli-deps.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

const withKey = (key: string) => ({
  server: () => ({ url: edge.address, key, keyFrom: 'MODELPORT_ADMIN_KEY', certificate: undefined }),
});

/** Another server, and what it was sent. */
async function beside(answer: (request: Request) => Response, argv: string[]) {
  const keys: (string | null)[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      keys.push(request.headers.get('authorization'));
      return answer(request);
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  try {
    return { url, keys, ...(await runAsProcess(edge, {}, [...argv, '--url', url])) };
  } finally {
    await server.stop(true);
  }
}

test('a key that is not known is named by its place, and not shown', async () => {
  const key = `sk-admin-${'x'.repeat(48)}`;
  const { code, out, err } = await runAsProcess(edge, withKey(key), ['accounts', 'list']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toStartWith(`${edge.address} refuses the admin key of MODELPORT_ADMIN_KEY: `);
  expect(err).not.toContain('xxxx');
});

test("a caller's key is refused as what it is", async () => {
  const { code, err } = await runAsProcess(edge, withKey(edge.callerKey), ['accounts', 'list']);
  expect(code).toBe(1);
  expect(err).toStartWith(`${edge.address} refuses the key of MODELPORT_ADMIN_KEY: `);
  expect(err).toContain('admin');
});

test('where nothing listens, it says how to start a server or name one', async () => {
  const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const url = `http://127.0.0.1:${gone.port}`;
  await gone.stop(true);
  expect(await runAsProcess(edge, {}, ['models', '--url', url])).toEqual({
    code: 1,
    out: '',
    err: `No server answers at ${url}. Start one with "modelport serve", or name its address with --url or MODELPORT_URL.`,
  });
});

test('a host that is not there is said to be none', async () => {
  const { code, err } = await runAsProcess(edge, {}, ['models', '--url', 'http://modelport.invalid']);
  expect(code).toBe(1);
  // A machine without any name server says so otherwise.
  expect(err).toMatch(/^(There is no such host|The server at|No server answers at):? ?http:\/\/modelport\.invalid/);
});

test('a server that takes the connection and never answers is given up', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const url = `http://127.0.0.1:${silent.port}`;
  try {
    const server = { url, key: edge.adminKey, keyFrom: 'the test', certificate: undefined };
    const admin = createAdminClient({ server, version: '1.2.3', ask: askServer, warn: () => {}, greetingMs: 100 });
    await expect(admin.get('/models')).rejects.toThrow(`The server at ${url} does not answer: is its address right?`);
  } finally {
    silent.stop(true);
  }
});

test('a server that is no Modelport is not shown the key', async () => {
  for (const answer of [
    () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    () => Response.json({ name: 'another' }),
    () => new Response('', { status: 404 }),
  ]) {
    const { url, keys, ...ran } = await beside(answer, ['models']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toStartWith(`What answers at ${url} is no Modelport (status `);
    expect(keys).toEqual([null]);
  }
});

test('a redirect is not followed: it says where it leads', async () => {
  const location = 'https://models.invalid/';
  const { err, keys } = await beside(() => new Response('', { status: 301, headers: { location } }), ['models']);
  expect(err).toContain(`(status 301, to ${location})`);
  expect(keys).toEqual([null]);
});

const other = (version: string, answer: () => Response) => (request: Request) =>
  new URL(request.url).pathname === '/' ? Response.json({ name: 'modelport', version }) : answer();

test('a server of another version is told of; what it knows works', async () => {
  const answer = other('9.9.9', () => Response.json({ data: [], hasMore: false, next: null }));
  const { url, keys, code, out, err } = await beside(answer, ['models', '--json']);
  expect({ code, out }).toEqual({ code: 0, out: '[]' });
  expect(err).toBe(
    `The server at ${url} is Modelport 9.9.9, this command line is 1.2.3: what one of them does not know fails.`,
  );
  expect(keys).toEqual([null, `Bearer ${edge.adminKey}`]);
});

test('a server of another version without the route says which versions these are', async () => {
  const error = { message: 'There is nothing at /admin/v1/models.', code: 'not_found', param: null };
  const answer = other('0.0.1', () => Response.json({ error }, { status: 404 }));
  const { url, code, out, err } = await beside(answer, ['models']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(
    `The server at ${url} has nothing at /admin/v1/models: it is Modelport 0.0.1, and this command is of 1.2.3: use the same version.`,
  );
});

test('a server of this version without the admin API says where it may be', async () => {
  const error = { message: 'There is nothing at /admin/v1/models.', code: 'not_found', param: null };
  const answer = other('1.2.3', () => Response.json({ error }, { status: 404 }));
  expect((await beside(answer, ['models'])).err).toContain('may be at another address (MODELPORT_ADMIN_LISTEN).');
});

test('an answer that is no JSON is said to be none', async () => {
  const answer = other('1.2.3', () => new Response('bad gateway', { status: 502 }));
  const { url, err } = await beside(answer, ['models']);
  expect(err).toBe(`The server at ${url} answers what this version does not understand (status 502).`);
});

test('lists are read to their end, page by page', async () => {
  for (let i = 0; i < 5; i++) await edge.admin('POST', '/accounts', { name: `page-${i}` });
  const sizes: string[] = [];
  const ask: Ask = (request) => {
    const url = new URL(request.url);
    if (url.searchParams.has('limit')) url.searchParams.set('limit', '2');
    sizes.push(url.search);
    return askServer({ ...request, url: url.href });
  };
  const { out } = await runAsProcess(edge, { ask }, ['accounts', 'list', '--json']);
  expect(JSON.parse(out).map(({ name }: { name: string }) => name)).toEqual([
    'default',
    'page-0',
    'page-1',
    'page-2',
    'page-3',
    'page-4',
  ]);
  expect(sizes).toHaveLength(4);
});

test('a proxy of the environment is not asked for an address of this machine', async () => {
  const before = process.env.HTTP_PROXY;
  process.env.HTTP_PROXY = 'http://127.0.0.1:9';
  try {
    expect(await runAsProcess(edge, {}, ['models', '--json'])).toMatchObject({ code: 0, err: '' });
  } finally {
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  }
});
