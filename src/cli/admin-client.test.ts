/** Error messages of commands when the server is wrong, missing or of another version. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { runAsProcess } from '../../test/helpers/run-as-process.ts';
import { askServer } from '../transport/ask-server.ts';
import { createAdminClient } from './admin-client.ts';
import type { SendRequest } from './cli-deps.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

const withKey = (key: string) => ({
  server: () => ({ url: edge.address, key, keyFrom: 'MODELPORT_ADMIN_KEY', certificate: undefined }),
});

/** Runs a command against another server. Returns the output and the requests it received. */
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

test('an unknown key is reported by its source and not shown', async () => {
  const key = `sk-admin-${'x'.repeat(48)}`;
  const { code, out, err } = await runAsProcess(edge, withKey(key), ['accounts', 'list']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toStartWith(`${edge.address} refuses the admin key of MODELPORT_ADMIN_KEY: `);
  expect(err).not.toContain('xxxx');
});

test('a caller key is refused with the hint that an admin key is needed', async () => {
  const { code, err } = await runAsProcess(edge, withKey(edge.callerKey), ['accounts', 'list']);
  expect(code).toBe(1);
  expect(err).toStartWith(`${edge.address} refuses the key of MODELPORT_ADMIN_KEY: `);
  expect(err).toContain('admin');
});

test('without a server the message explains how to start or name one', async () => {
  const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
  const url = `http://127.0.0.1:${gone.port}`;
  await gone.stop(true);
  expect(await runAsProcess(edge, {}, ['models', '--url', url])).toEqual({
    code: 1,
    out: '',
    err: `No server answers at ${url}. Start one with "modelport serve", or name its address with --url or MODELPORT_URL.`,
  });
});

test('an unknown host name is reported', async () => {
  const { code, err } = await runAsProcess(edge, {}, ['models', '--url', 'http://modelport.invalid']);
  expect(code).toBe(1);
  // Without any name server the message differs.
  expect(err).toMatch(/^(There is no such host|The server at|No server answers at):? ?http:\/\/modelport\.invalid/);
});

test('a server that accepts the connection and never answers is reported', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const url = `http://127.0.0.1:${silent.port}`;
  try {
    const server = { url, key: edge.adminKey, keyFrom: 'the test', certificate: undefined };
    const admin = createAdminClient({ server, version: '1.2.3', ask: askServer, warn: () => {}, greetingMs: 100 });
    await expect(admin.get('/models')).rejects.toThrow(`The server at ${url} does not answer: is the URL right?`);
  } finally {
    silent.stop(true);
  }
});

test('a server that is not Modelport does not get the key', async () => {
  for (const answer of [
    () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    () => Response.json({ name: 'another' }),
    () => new Response('', { status: 404 }),
  ]) {
    const { url, keys, ...ran } = await beside(answer, ['models']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toStartWith(`The server at ${url} is not Modelport (status `);
    expect(keys).toEqual([null]);
  }
});

test('a redirect is not followed, and its target is shown', async () => {
  const location = 'https://models.invalid/';
  const { err, keys } = await beside(() => new Response('', { status: 301, headers: { location } }), ['models']);
  expect(err).toContain(`(status 301, to ${location})`);
  expect(keys).toEqual([null]);
});

const other = (version: string, answer: () => Response) => (request: Request) =>
  new URL(request.url).pathname === '/' ? Response.json({ name: 'modelport', version }) : answer();

test('a server of another version causes a warning, and known commands work', async () => {
  const answer = other('9.9.9', () => Response.json({ data: [], hasMore: false, next: null }));
  const { url, keys, code, out, err } = await beside(answer, ['models', '--json']);
  expect({ code, out }).toEqual({ code: 0, out: '[]' });
  expect(err).toBe(
    `The server at ${url} is Modelport 9.9.9, this command line is 1.2.3: what only one of them supports will fail.`,
  );
  expect(keys).toEqual([null, `Bearer ${edge.adminKey}`]);
});

test('a route that is missing in another version is reported with both versions', async () => {
  const error = { message: 'There is nothing at /admin/v1/models.', code: 'not_found', param: null };
  const answer = other('0.0.1', () => Response.json({ error }, { status: 404 }));
  const { url, code, out, err } = await beside(answer, ['models']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(
    `The server at ${url} has nothing at /admin/v1/models: it is Modelport 0.0.1, and this command is of 1.2.3: use the same version.`,
  );
});

test('a server of this version without the admin API is reported with a hint to its address', async () => {
  const error = { message: 'There is nothing at /admin/v1/models.', code: 'not_found', param: null };
  const answer = other('1.2.3', () => Response.json({ error }, { status: 404 }));
  expect((await beside(answer, ['models'])).err).toContain('may be at another address (MODELPORT_ADMIN_LISTEN).');
});

test('a response that is not JSON is reported', async () => {
  const failing = await beside(
    other('1.2.3', () => new Response('bad gateway', { status: 502 })),
    ['models'],
  );
  expect(failing.err).toBe(`The server at ${failing.url} answered with status 502.`);
  const refusing = await beside(
    other('1.2.3', () => new Response('I am a teapot', { status: 418 })),
    ['models'],
  );
  expect(refusing.err).toBe(
    `The response of the server at ${refusing.url} is not understood by this version (status 418).`,
  );
});

test('lists are read page by page to the end', async () => {
  for (let i = 0; i < 5; i++) await edge.admin('POST', '/accounts', { name: `page-${i}` });
  const sizes: string[] = [];
  const ask: SendRequest = (request) => {
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

test('a proxy in the environment is not used for an address of this machine', async () => {
  const before = process.env.HTTP_PROXY;
  process.env.HTTP_PROXY = 'http://127.0.0.1:9';
  try {
    expect(await runAsProcess(edge, {}, ['models', '--json'])).toMatchObject({ code: 0, err: '' });
  } finally {
    if (before === undefined) delete process.env.HTTP_PROXY;
    else process.env.HTTP_PROXY = before;
  }
});
