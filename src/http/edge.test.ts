import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { type Loopback, MAX_BODY_BYTES, startLoopback } from '../../test/helpers/loopback.ts';
import { readScrape } from '../../test/helpers/scraped.ts';

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback();
});
afterAll(() => edge.stop());

test('GET and HEAD / return name and version', async () => {
  const response = await edge.ask('GET', '/', { key: null });
  expect(response.headers.get('x-request-id')).toStartWith('req_');
  expect(await response.json()).toEqual({ name: 'modelport', version: '1.2.3' });
  const head = await edge.ask('HEAD', '/', { key: null });
  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
});

test('GET /health and /ready need no key', async () => {
  expect(await (await edge.ask('GET', '/health', { key: null })).json()).toEqual({ status: 'ok' });
  expect((await edge.ask('GET', '/ready', { key: null })).status).toBe(200);
});

test('an unknown path is 404 in the error format of its API', async () => {
  const openai = await edge.ask('GET', '/v1/nothing', { key: null });
  expect(openai.status).toBe(404);
  expect(await openai.json()).toMatchObject({
    error: { type: 'invalid_request_error', code: 'not_found', param: '' },
  });
  const anthropic = await edge.ask('POST', '/v1/messages/nothing', { key: null });
  expect(anthropic.status).toBe(404);
  expect(await anthropic.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  const google = await edge.ask('POST', '/v1beta/nothing', { key: null });
  expect(google.status).toBe(404);
  expect(await google.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
});

test('a wrong method is 405 with the allowed methods', async () => {
  const response = await edge.ask('GET', '/v1/chat/completions');
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST, OPTIONS');
  expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  const models = await edge.ask('DELETE', '/v1/models/team/x');
  expect(models.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  expect(await models.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  const google = await edge.ask('DELETE', '/v1beta/models');
  expect(await google.json()).toMatchObject({ error: { code: 405, status: 'INVALID_ARGUMENT' } });
  const messages = await edge.ask('GET', '/v1/messages');
  expect(messages.status).toBe(405);
  expect(await messages.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
});

test('a request without a valid key is 401, with the wrong kind of key 403', async () => {
  for (const key of [null, 'sk-nobodys']) {
    const response = await edge.ask('GET', '/v1/balance', { key });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { type: 'authentication_error', code: 'invalid_api_key' } });
  }
  expect((await edge.ask('GET', '/v1beta/models', { key: null })).status).toBe(401);
  const caller = await edge.ask('GET', '/admin/v1/accounts');
  expect(caller.status).toBe(403);
  expect(await caller.json()).toMatchObject({ error: { type: 'permission_error', code: 'scope_not_allowed' } });
  expect((await edge.ask('GET', '/v1/balance', { key: edge.adminKey })).status).toBe(403);
});

test('a key bound to addresses is refused from other addresses', async () => {
  const near = await edge.issue('caller', { addresses: ['127.0.0.0/8'] });
  const far = await edge.issue('caller', { addresses: ['203.0.113.0/24'] });
  expect((await edge.ask('GET', '/v1/balance', { key: near })).status).toBe(200);
  const refused = await edge.ask('GET', '/v1/balance', { key: far, headers: { 'x-forwarded-for': '203.0.113.1' } });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'address_not_allowed' } });
});

test('a browser can send a preflight request and read the response', async () => {
  const requestedHeaders = 'authorization,x-stainless-lang,content-type';
  const preflight = await edge.ask('OPTIONS', '/v1/chat/completions', {
    key: null,
    headers: { origin: 'https://app.example', 'access-control-request-headers': requestedHeaders },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-headers')).toBe(requestedHeaders);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  for (const path of ['/v1/balance', '/v1/nothing']) {
    const response = await edge.ask('GET', path, { headers: { origin: 'https://app.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const exposed = response.headers.get('access-control-expose-headers') ?? '';
    for (const name of ['cost', 'attempts', 'provider', 'warnings', 'cache'])
      expect(exposed).toContain(`x-modelport-${name}`);
  }
  expect((await edge.ask('GET', '/v1/balance')).headers.get('access-control-allow-origin')).toBeNull();
});

test('an internal error is a 500 without its cause, and the operator gets the cause', async () => {
  const response = await edge.ask('POST', '/v1/chat/completions', { body: {} });
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'api_error', code: 'internal_error' } });
  expect(text).not.toContain('no gateway');
  expect(edge.troubles).toEqual(['POST /v1/chat/completions failed.']);
});

test('a body above the maximum size is 413', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(MAX_BODY_BYTES) });
  const response = await edge.ask('POST', '/admin/v1/accounts', { key: edge.adminKey, body });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ error: { code: 'request_too_large' } });
});

test('GET /metrics returns the Prometheus text format', async () => {
  const response = await edge.ask('GET', '/metrics', { key: edge.adminKey });
  expect(response.headers.get('content-type')).toStartWith('text/plain');
  const text = await response.text();
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? -?[\d.e+-]+)$/);
  }
  expect(text).toMatch(/^modelport_http_answers_total\{status="404"\} \d+$/m);
  expect(text).toContain('\nmodelport_holds_open 0\n');
  expect(text).toContain('\nmodelport_database_up 1\n');
});

test('GET /openapi.json describes every route and has no broken reference', async () => {
  const response = await edge.ask('GET', '/openapi.json', { key: null });
  const description = (await response.json()) as {
    openapi: string;
    paths: { [path: string]: object };
    components: { schemas: object; responses: object };
  };
  expect(description.openapi).toBe('3.1.0');
  expect(Object.keys(description.paths['/v1/chat/completions'] ?? {})).toEqual(['post']);
  expect(Object.keys(description.paths['/admin/v1/models/{name}'] ?? {}).sort()).toEqual(['delete', 'put']);
  for (const path of Object.keys(description.paths)) expect(path).not.toContain('/:');
  expect(Object.keys(description.paths)).toContain('/v1/models/{model}:generateContent');
  const references = JSON.stringify(description).matchAll(/"\$ref":"#\/components\/(\w+\/\w+)"/g);
  const { schemas, responses } = description.components;
  const there = [
    ...Object.keys(schemas).map((name) => `schemas/${name}`),
    ...Object.keys(responses).map((name) => `responses/${name}`),
  ];
  expect([...new Set([...references].map(([, name]) => name))].toSorted()).toEqual(there.toSorted());
});

/** The path as the route sees it, taken from its error message. */
async function pathSeen(target: string): Promise<string> {
  const response = await askRaw(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  return /There is nothing at (.*)\. GET/.exec(response)?.[1] ?? response;
}

/** Sends the request as raw text and returns everything received. */
function askRaw(request: string): Promise<string> {
  const { port, hostname } = new URL(edge.address);
  return new Promise((resolve, reject) => {
    let seen = '';
    const socket = connect(Number(port), hostname, () => socket.write(request, 'latin1'));
    socket.on('data', (bytes) => {
      seen += bytes.toString();
    });
    socket.on('close', () => resolve(seen));
    socket.on('error', reject);
  });
}

test('a path is decoded once: a double escape stays escaped, and an invalid escape is unchanged', async () => {
  expect(await pathSeen('/v9/%C3%A9%20')).toBe('/v9/é ');
  expect(await pathSeen('/v9/\xc3\xa9')).toBe('/v9/é');
  expect(await pathSeen('/v9/a%2Fb%252F')).toBe('/v9/a%2Fb%252F');
  expect(await pathSeen('/v9/%zz%41/%ff')).toBe('/v9/%zzA/%ff');
  expect(await pathSeen('/v9/../a/%2e%2e?b?c#d')).toBe('/v9/../a/..');
  expect(await pathSeen('http://elsewhere/v9')).toBe('/v9');
  expect(await pathSeen('//elsewhere/v9')).toBe('//elsewhere/v9');
});

test('a request target above the maximum length is 414', async () => {
  const ask = (length: number) => edge.ask('GET', `/?${'x'.repeat(length - 2)}`, { key: null });
  expect((await ask(8192)).status).toBe(200);
  expect((await ask(8193)).status).toBe(414);
});

test('GET /metrics returns OpenMetrics to a client that asks for it', async () => {
  const headers = { accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' };
  const response = await edge.ask('GET', '/metrics', { key: edge.adminKey, headers });
  expect(response.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  const text = await response.text();
  expect(readScrape(text).length).toBeGreaterThan(30);
  expect(text.endsWith('# EOF\n')).toBe(true);
});

test('an invalid request is counted in the metrics', async () => {
  expect(await askRaw('GET / HTTP/1.1\r\n\r\n')).toStartWith('HTTP/1.1 400 ');
  expect(await (await edge.ask('GET', '/metrics', { key: edge.adminKey })).text()).toMatch(
    /answers_total\{status="400"\} [1-9]/,
  );
});

test('a path with a percent-encoded route word is 404, and a percent-encoded parameter is accepted', async () => {
  const raw = async (target: string, key: string): Promise<number> => {
    const { hostname, port } = new URL(edge.address);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`);
    const first = await new Promise<Buffer>((resolve, reject) => socket.once('data', resolve).once('error', reject));
    return Number(first?.toString().split(' ')[1]);
  };
  expect(await raw('/admin/v1/accounts', edge.adminKey)).toBe(200);
  expect(await raw(`/admin/v1/accounts/${edge.account}`, edge.adminKey)).toBe(200);
  expect(await raw(`/admin/v1/accounts/${edge.account.replace('_', '%5F')}`, edge.adminKey)).toBe(200);
  for (const target of ['/%61dmin/v1/accounts', '/admin/v1/%61ccounts', '/admin%2Fv1/accounts', '/%61dmin/v1/keys/x'])
    expect([target, await raw(target, edge.adminKey)]).toEqual([target, 404]);
  expect(await raw(`/%61dmin/v1/accounts/${edge.account}`, edge.adminKey)).toBe(404);
  for (const target of [
    '/metric%73',
    '/%6detrics',
    '/%2Fadmin/v1/accounts',
    '//admin/v1/accounts',
    '/x/../admin/v1/accounts',
    '/v1/..%2Fadmin/v1/accounts',
  ])
    expect([target, await raw(target, edge.adminKey)]).toEqual([target, 404]);
  // A target that is not a path is refused, not converted to one.
  for (const target of ['admin/v1/accounts', 'x:/admin/v1/accounts', '*'])
    expect([target, await raw(target, edge.adminKey)]).toEqual([target, 400]);
});
