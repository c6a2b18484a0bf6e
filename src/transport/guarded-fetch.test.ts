import { afterAll, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { GatewayError } from '../canonical/errors.ts';
import { createGuardedFetch, type GuardOptions } from './guarded-fetch.ts';

const BYTES = new Uint8Array([1, 2, 3, 4]);
const NEVER = new AbortController().signal;
const seen: { path: string; host: string | null }[] = [];

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 30,
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    seen.push({ path: pathname, host: request.headers.get('host') });
    switch (pathname) {
      case '/image':
        return new Response(BYTES, { headers: { 'content-type': 'Image/PNG; charset=binary' } });
      case '/to':
        return Response.redirect(searchParams.get('url') ?? '', 302);
      case '/loop':
        return new Response(null, { status: 302, headers: { location: '/loop' } });
      case '/relative':
        return new Response(null, { status: 301, headers: { location: 'image' } });
      case '/large':
        return new Response(new Uint8Array(5000));
      case '/endless':
        return new Response(endless());
      case '/packed':
        return new Response(Bun.gzipSync(new Uint8Array(100)), { headers: { 'content-encoding': 'gzip' } });
      case '/bomb':
        return new Response(Bun.gzipSync(new Uint8Array(10_000_000)), { headers: { 'content-encoding': 'gzip' } });
      case '/slow':
        await Bun.sleep(60_000);
        return new Response(BYTES);
      default:
        return new Response('no', { status: 404 });
    }
  },
});
afterAll(() => server.stop(true));

const at = (path: string, host = '127.0.0.1') => `http://${host}:${server.port}${path}`;
const LOOPBACK: GuardOptions = {
  allows: (address) => address === '127.0.0.1',
  maxBytes: 1000,
  timeoutMs: 30_000,
  resolve: async () => ['127.0.0.1'],
};
const guard = (options: Partial<GuardOptions> = {}) => createGuardedFetch({ ...LOOPBACK, ...options });
const strict = (options: Partial<GuardOptions> = {}) => guard({ allows: () => false, ...options });

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100)) });
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const thrown = await promise.then(
    () => 'it was fetched',
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(GatewayError);
  const error = thrown as GatewayError;
  expect(error.code).toBe('invalid_request');
  expect(error.message).not.toContain('127.0.0.1');
  return error.message;
}

describe('fetched media', () => {
  test('have the bytes and the media type of the server', async () => {
    expect(await guard().fetch(at('/image'), NEVER)).toEqual({ bytes: Buffer.from(BYTES), contentType: 'image/png' });
  });

  test('are requested by name, which is resolved once', async () => {
    let lookups = 0;
    const resolve = async (host: string) => {
      lookups++;
      expect(host).toBe('images.example');
      return ['127.0.0.1'];
    };
    await guard({ resolve }).fetch(at('/image', 'images.example'), NEVER);
    expect(lookups).toBe(1);
    expect(seen.at(-1)).toEqual({ path: '/image', host: `images.example:${server.port}` });
  });

  test('are found after redirects, also relative ones', async () => {
    expect((await guard().fetch(at('/relative'), NEVER)).bytes).toHaveLength(4);
    expect((await guard().fetch(at(`/to?url=${at('/image')}`), NEVER)).bytes).toHaveLength(4);
  });

  test('are decompressed', async () => {
    expect((await guard().fetch(at('/packed'), NEVER)).bytes).toHaveLength(100);
  });

  test('use the host name in the TLS handshake, not the address', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const listener = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (hello) => {
        resolve(hello.toString('latin1'));
        socket.destroy();
      });
    });
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    const address = listener.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await refusal(guard().fetch(`https://images.example:${port}/x`, NEVER));
    expect(await promise).toContain('images.example');
    listener.close();
  });
});

describe('refused URLs', () => {
  test.each([
    'ftp://example.com/x',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'gs://bucket/x',
    'no address',
    '',
    'http://user:secret@example.com/x',
    'http://user@example.com/x',
    'http://127.0.0.1/x',
    'http://2130706433/x',
    'http://0177.0.0.1/x',
    'http://0x7f.1/x',
    'http://127.1/x',
    'http://0/x',
    'http://[::1]/x',
    'http://[::ffff:127.0.0.1]/x',
    'http://[64:ff9b::7f00:1]/x',
    'http://[2002:7f00:1::]/x',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/x',
    'http://100.100.100.200/x',
  ])('%p is refused before any request', async (url) => {
    expect(() => strict().check(url)).toThrow(GatewayError);
    await refusal(strict().fetch(url, NEVER));
  });

  test('a name with a private address is refused, even if it has public ones too', async () => {
    const before = seen.length;
    expect(await refusal(strict().fetch(at('/image', 'inside.example'), NEVER))).toContain('public host');
    const both = async () => ['1.1.1.1', '127.0.0.1'];
    expect(await refusal(strict({ resolve: both }).fetch(at('/image', 'both.example'), NEVER))).toContain('public');
    expect(seen.length).toBe(before);
  });

  test('a name that changes between two lookups is safe, because there is no second lookup', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const resolve = async () => answers.shift() ?? [];
    expect((await guard({ resolve }).fetch(at('/image', 'rebound.example'), NEVER)).bytes).toHaveLength(4);
    expect(answers).toHaveLength(1);
  });

  test('a redirect to a private address is refused', async () => {
    const target = encodeURIComponent('http://10.0.0.1/secret');
    expect(await refusal(guard().fetch(at(`/to?url=${target}`), NEVER))).toContain('public host');
    const inside = async (host: string) => [host === 'inside.example' ? '192.168.0.1' : '127.0.0.1'];
    const named = encodeURIComponent('http://inside.example/secret');
    expect(await refusal(guard({ resolve: inside }).fetch(at(`/to?url=${named}`), NEVER))).toContain('public host');
  });

  test('endless redirects, error statuses, unknown hosts and closed ports are refused', async () => {
    expect(await refusal(guard().fetch(at('/loop'), NEVER))).toContain('redirects more than 5 times');
    expect(await refusal(guard().fetch(at('/missing'), NEVER))).toContain('status 404');
    const unknown = guard({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await refusal(unknown.fetch(at('/x', 'nobody.example'), NEVER))).toContain('unknown host');
    expect(await refusal(guard().fetch('http://127.0.0.1:1/x', NEVER))).toContain('could not be reached');
  });

  test('a response that is too large is refused, announced or not, compressed or not', async () => {
    for (const path of ['/large', '/endless', '/bomb'])
      expect(await refusal(guard().fetch(at(path), NEVER))).toContain('more than 1000 bytes');
  });

  test('a response that is too slow or cancelled is refused', async () => {
    expect(await refusal(guard({ timeoutMs: 100 }).fetch(at('/slow'), NEVER))).toContain('within 100 ms');
    const stalled = guard({ timeoutMs: 100, resolve: () => new Promise(() => {}) });
    expect(await refusal(stalled.fetch(at('/x', 'stalled.example'), NEVER))).toContain('within 100 ms');
    const leaving = new AbortController();
    const fetching = refusal(guard().fetch(at('/slow'), leaving.signal));
    leaving.abort();
    expect(await fetching).toContain('could not be reached');
  });
});

test('a POST is given up while the name of its host is looked up', async () => {
  const { post } = createGuardedFetch({
    ...{ allows: () => true, maxBytes: 1000, timeoutMs: 60_000 },
    resolve: () => new Promise(() => {}),
  });
  const giving = new AbortController();
  const posting = post('http://hook.test/', {}, '{}', giving.signal);
  giving.abort(new Error('given up'));
  await expect(posting).rejects.toThrow('given up');
});

test('a request is sent as given, without following redirects, and the response is bounded', async () => {
  const send = (url: string, options = {}) =>
    guard(options).send(url, { method: 'POST', headers: { 'x-own': '1' }, body: 'a=b', maxBytes: 1000 }, NEVER);
  expect(await send(at('/image'))).toMatchObject({ status: 200, bytes: BYTES });
  expect(await send(at('/loop'))).toMatchObject({ status: 302, headers: { location: '/loop' } });
  expect(await send(at('/none'))).toMatchObject({ status: 404 });
  for (const [url, options] of [
    [at('/large'), {}],
    [at('/bomb'), {}],
    [at('/image'), { allows: () => false }],
    [at('/image', 'name.test'), { allows: () => false }],
    ['file:///etc/passwd', {}],
  ] as const)
    expect(await refusal(send(url, options))).toStartWith('The address ');
});
