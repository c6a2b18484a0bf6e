import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { failure } from '../../test/helpers/gateway-error.ts';
import { Cancellation } from './cancellation.ts';
import type { Exchange } from './exchange.ts';
import { createTransport, type Sending } from './transport.ts';

const LIMITS = { connectMs: 2000, headersMs: 2000, firstTokenMs: 2000, silenceMs: 2000, wholeMs: 8000 };
const CRLF = '\r\n';
const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

const reply = (body: string, headers = '') =>
  `HTTP/1.1 200 OK${CRLF}${headers}content-length: ${body.length}${CRLF}${CRLF}${body}`;

/** A raw server: `talk` gets the bytes of each request and writes any answer. Counts connections and requests. */
async function rawServer(talk: (socket: Socket, request: string, count: number) => void) {
  const counts = { connections: 0, requests: 0, closed: 0 };
  const server = createServer((socket) => {
    counts.connections++;
    socket.on('error', () => {});
    socket.on('close', () => counts.closed++);
    socket.on('data', (bytes) => talk(socket, bytes.toString('latin1'), ++counts.requests));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/v1/x?y=1`, counts };
}

function client() {
  const transport = createTransport();
  const send = (url: string, sending: Partial<Sending> = {}) =>
    transport.send(
      { method: 'POST', url, headers: {}, body: Buffer.from('{}'), ...sending },
      LIMITS,
      performance.now() + LIMITS.wholeMs,
      new Cancellation(),
    );
  const text = async (url: string, sending: Partial<Sending> = {}) =>
    Buffer.from(await (await send(url, sending)).readAll(1 << 26)).toString();
  return { send, text };
}

/** Polls until the condition holds: the other side's state changes a moment later. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 3000 && !holds(); tries++) await Bun.sleep(10);
  expect(holds()).toBe(true);
}

async function rest(exchange: Exchange): Promise<string> {
  let text = '';
  for (let bytes = await exchange.read(); bytes; bytes = await exchange.read()) text += Buffer.from(bytes).toString();
  return text;
}

const OPENED = 20;

test('a kept connection does not keep the request that it was opened for', async () => {
  const waiting: (() => void)[] = [];
  const { url, counts } = await rawServer((socket) => {
    // All at once, so that each request has a connection of its own.
    if (waiting.push(() => socket.write(reply('ok'))) === OPENED) for (const answer of waiting) answer();
  });
  const { text } = client();
  const bodies: WeakRef<Uint8Array>[] = [];
  await Promise.all(
    Array.from({ length: OPENED }, () => {
      const body = Buffer.alloc(100, 120);
      bodies.push(new WeakRef(body));
      return text(url, { body });
    }),
  );
  expect(counts).toMatchObject({ connections: OPENED, closed: 0 });
  const kept = () => {
    Bun.gc(true);
    return bodies.filter((body) => body.deref()).length;
  };
  // The collector takes what looks like an address on the stack for one.
  await until(() => kept() < OPENED / 4);
});

test('a process lives as long as it waits for a reply, and a kept connection does not keep it alive', async () => {
  // The pause is long enough for a process that waits for nothing to end.
  const { url } = await rawServer((socket) => void setTimeout(() => socket.write(reply('late')), 300));
  const program = `
    const { createTransport } = await import(${JSON.stringify(`${import.meta.dir}/transport.ts`)});
    const { Cancellation } = await import(${JSON.stringify(`${import.meta.dir}/cancellation.ts`)});
    const limits = { connectMs: 30000, headersMs: 30000, firstTokenMs: 30000, silenceMs: 30000, wholeMs: 30000 };
    const sending = { method: 'POST', url: ${JSON.stringify(url)}, headers: {}, body: new Uint8Array(2) };
    createTransport().send(sending, limits, performance.now() + 30000, new Cancellation())
      .then((exchange) => exchange.readAll(100))
      .then((bytes) => console.log(Buffer.from(bytes).toString()));
  `;
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'inherit' });
  expect(await new Response(child.stdout).text()).toBe('late\n');
  // Without a signal: an idle connection would be closed after 30 s only.
  expect(await child.exited).toBe(0);
});

describe('requests', () => {
  test("a plain request has the transport's own framing headers", async () => {
    let seen = '';
    const { url } = await rawServer((socket, request) => {
      seen = request;
      socket.write(reply('ok'));
    });
    const headers = { host: 'elsewhere', 'content-length': '99', 'transfer-encoding': 'chunked', 'x-a': 'é' };
    expect(await client().text(url, { headers })).toBe('ok');
    const port = new URL(url).port;
    expect(seen).toBe(
      `POST /v1/x?y=1 HTTP/1.1${CRLF}host: 127.0.0.1:${port}${CRLF}x-a: é${CRLF}accept: */*${CRLF}accept-encoding: identity${CRLF}content-length: 2${CRLF}${CRLF}{}`,
    );
  });

  test.each(['a\r\nx: 1', 'a\nb', 'a\0', '\u{1F600}'])(
    'a header with invalid characters is not sent: %j',
    async (value) => {
      const { url, counts } = await rawServer((socket) => socket.write(reply('ok')));
      expect((await failure(client().send(url, { headers: { 'x-a': value } }))).code).toBe('upstream_failed');
      expect((await failure(client().send(url, { headers: { 'a b': 'x' } }))).code).toBe('upstream_failed');
      expect(counts.connections).toBe(0);
    },
  );

  test('a body larger than any buffer is sent completely', async () => {
    let received = 0;
    const { url } = await rawServer((socket, bytes) => {
      received += bytes.length;
      if (bytes.endsWith('end')) socket.write(reply('ok'));
    });
    const body = Buffer.alloc(20_000_000, 'a');
    body.write('end', body.length - 3);
    expect(await client().text(url, { body })).toBe('ok');
    expect(received).toBeGreaterThan(body.length);
  });
});

describe('kept connections', () => {
  test('serve the next request', async () => {
    const { url, counts } = await rawServer((socket, _, count) => socket.write(reply(`${count}`)));
    const { text } = client();
    for (const expected of ['1', '2', '3']) expect(await text(url)).toBe(expected);
    expect(counts.connections).toBe(1);
  });

  test('are kept where a request has a header that cannot be sent', async () => {
    const { url, counts } = await rawServer((socket, _, count) => socket.write(reply(`${count}`)));
    const { send, text } = client();
    expect(await text(url)).toBe('1');
    expect((await failure(send(url, { headers: { 'x-a': 'a\r\nx: 1' } }))).code).toBe('upstream_failed');
    // Too much comes from the caller: it is no failure of the provider.
    const long = 'a'.repeat(140_000);
    const refusal = { code: 'invalid_request', retryable: false, unsent: true };
    expect(await failure(send(url, { headers: { 'x-a': long } }))).toMatchObject(refusal);
    expect(await failure(send(`${url}&${long}`))).toMatchObject(refusal);
    expect(await text(url, { headers: { 'x-a': 'tab\tümlaut' } })).toBe('2');
    expect(counts).toEqual({ connections: 1, requests: 2, closed: 0 });
  });

  test('a head of almost 64 KiB and a body beside it are sent completely', async () => {
    let received = '';
    const { url } = await rawServer((socket, bytes) => {
      received += bytes;
      if (received.endsWith('end')) socket.write(reply('ok'));
    });
    const value = 'v'.repeat(60_000);
    const body = Buffer.from(`${'b'.repeat(10_000)}end`);
    expect(await client().text(url, { headers: { 'x-a': value }, body })).toBe('ok');
    expect(received).toContain(`\r\nx-a: ${value}\r\n`);
    expect(received.endsWith(`content-length: 10003\r\n\r\n${body}`)).toBe(true);
  });

  test('the longest header of a client is sent beside those of the gateway', async () => {
    let received = '';
    const { url } = await rawServer((socket, bytes) => {
      received += bytes;
      if (received.endsWith('{}')) socket.write(reply('ok'));
    });
    const headers = { 'x-a': 'v'.repeat(65_500), 'x-key': 'k'.repeat(3000) };
    expect(await client().text(url, { headers })).toBe('ok');
    expect(received).toContain(`\r\nx-key: ${headers['x-key']}\r\n`);
  });

  test.each([
    ['connection: close', (socket: Socket) => socket.write(reply('ok', `connection: close${CRLF}`))],
    ['trailing bytes', (socket: Socket) => socket.write(`${reply('ok')}x`)],
    ['a second reply', (socket: Socket) => socket.write(reply('ok') + reply('stolen'))],
    ['HTTP/1.0', (socket: Socket) => socket.write(reply('ok').replace('HTTP/1.1', 'HTTP/1.0'))],
  ])('are not kept: %s', async (_, talk) => {
    const { url, counts } = await rawServer(talk);
    const { text } = client();
    for (let i = 0; i < 3; i++) expect(await text(url)).toBe('ok');
    expect(counts.connections).toBe(3);
    await until(() => counts.closed === 3);
  });

  test('bytes that arrive while idle close the connection', async () => {
    const { url, counts } = await rawServer((socket) => {
      socket.write(reply('ok'));
      setTimeout(() => socket.write(reply('stolen')), 20);
    });
    const { text } = client();
    expect(await text(url)).toBe('ok');
    await until(() => counts.closed === 1);
    expect(await text(url)).toBe('ok');
    expect(counts.connections).toBe(2);
  });

  test('if the server closes a kept connection as the next request is sent, the request goes over another', async () => {
    const { url, counts } = await rawServer((socket, _, count) =>
      count === 2 ? socket.resetAndDestroy() : socket.write(reply(`${count}`)),
    );
    const { text } = client();
    expect(await text(url)).toBe('1');
    expect(await text(url)).toBe('3');
    expect(counts.connections).toBe(2);
  });

  test('a new connection that is closed is a failure, because the request may have been read', async () => {
    const { url, counts } = await rawServer((socket) => socket.resetAndDestroy());
    expect((await failure(client().send(url))).code).toBe('upstream_failed');
    expect(counts.requests).toBe(1);
  });

  test('a kept connection that is closed late is a failure too', async () => {
    const { url, counts } = await rawServer((socket, _, count) => {
      if (count === 1) socket.write(reply('ok'));
      else setTimeout(() => socket.destroy(), 700);
    });
    const { text } = client();
    await text(url);
    expect((await failure(text(url))).code).toBe('upstream_failed');
    expect(counts.requests).toBe(2);
  });

  test('cancelling an exchange closes its connection', async () => {
    const { url, counts } = await rawServer((socket) => socket.write(reply('hello').slice(0, -2)));
    const exchange = await client().send(url);
    await exchange.read();
    exchange.cancel();
    await until(() => counts.closed === 1);
  });

  test('a thousand concurrent requests are answered', async () => {
    const { url } = await rawServer((socket, _, count) => setTimeout(() => socket.write(reply(`${count}`)), 50));
    const { text } = client();
    for (let round = 0; round < 2; round++) {
      const texts = await Promise.all(Array.from({ length: 1000 }, () => text(url)));
      expect(new Set(texts).size).toBe(1000);
    }
  }, 60_000);
});

describe('invalid replies', () => {
  test.each([
    ['a bad status line', 'ICY 200 OK\r\n\r\n'],
    ['a header flood', `HTTP/1.1 200 OK${CRLF}${`x: ${'y'.repeat(1000)}${CRLF}`.repeat(100)}${CRLF}`],
    ['two lengths', `HTTP/1.1 200 OK${CRLF}content-length: 1${CRLF}content-length: 2${CRLF}${CRLF}ab`],
  ])('%s', async (_, bytes) => {
    const { url, counts } = await rawServer((socket) => socket.write(bytes));
    const error = await failure(client().text(url));
    expect(error.code).toBe('upstream_failed');
    expect(error.retryable).toBe(true);
    await until(() => counts.closed === 1);
  });

  test('after garbage among the chunks the bytes before it are delivered', async () => {
    const { url } = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK${CRLF}transfer-encoding: chunked${CRLF}${CRLF}5${CRLF}hello${CRLF}zz${CRLF}`),
    );
    const exchange = await client().send(url);
    expect(Buffer.from((await exchange.read()) ?? []).toString()).toBe('hello');
    expect((await failure(exchange.read())).code).toBe('upstream_failed');
  });

  test('a body that ends with the connection is complete', async () => {
    const { url } = await rawServer((socket) => socket.end(`HTTP/1.1 200 OK${CRLF}${CRLF}all of this`));
    expect(await client().text(url)).toBe('all of this');
  });
});

describe('slow readers', () => {
  test('make the upstream wait and get everything', async () => {
    const size = 30_000_000;
    let sent = 0;
    const { url } = await rawServer((socket) => {
      const body = Buffer.alloc(size, 'b');
      socket.write(`HTTP/1.1 200 OK${CRLF}content-length: ${size}${CRLF}${CRLF}`);
      for (let at = 0; at < size; at += 100_000) {
        socket.write(body.subarray(at, at + 100_000), () => {
          sent += 100_000;
        });
      }
    });
    const exchange = await client().send(url);
    await exchange.read();
    await Bun.sleep(200);
    expect(sent).toBeLessThan(size / 2);
    let got = 0;
    for (let bytes = await exchange.read(); bytes; bytes = await exchange.read()) got += bytes.length;
    expect(got).toBeGreaterThan(size - 1_000_000);
  });
});

describe('unrequested compression', () => {
  const plain = 'Grüße '.repeat(100_000);
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('%s', async (encoding, pack) => {
    const packed = pack(plain);
    const head = `HTTP/1.1 200 OK${CRLF}content-encoding: ${encoding}${CRLF}content-length: ${packed.length}${CRLF}${CRLF}`;
    const { url, counts } = await rawServer((socket) => {
      socket.write(head);
      socket.write(packed);
    });
    const { send } = client();
    for (let i = 0; i < 2; i++) expect(await rest(await send(url))).toBe(plain);
    expect(counts.connections).toBe(1);
    const tooMuch = send(url).then((exchange) => exchange.readAll(1000));
    expect((await failure(tooMuch)).message).toContain('larger than 1000 bytes');
  });

  test('a broken or unknown encoding fails, and the next call is served', async () => {
    for (const encoding of ['gzip', 'mystery']) {
      const { url } = await rawServer((socket, _, count) =>
        socket.write(count === 1 ? reply('no', `content-encoding: ${encoding}${CRLF}`) : reply('yes')),
      );
      const { text } = client();
      expect((await failure(text(url))).code).toBe('upstream_failed');
      expect(await text(url)).toBe('yes');
    }
  });
});

describe('certificates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-tls-'));
  stops.push(() => rmSync(folder, { recursive: true }));
  const openssl = Bun.which('openssl');
  if (!openssl) console.warn('openssl is not on the PATH: the tests of certificates are skipped');
  const file = (name: string) => join(folder, name);

  /** Serves one HTTPS reply with a self-signed certificate for `localhost`, and requests it from a separate process. */
  async function askSecurely(hostname: string, environment: { [name: string]: string }): Promise<string> {
    if (!openssl) throw new Error('no openssl');
    Bun.spawnSync([
      ...[openssl, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test'],
      ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', file('key'), '-out', file('cert')],
    ]);
    const tls = { key: readFileSync(file('key')), cert: readFileSync(file('cert')) };
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: () => new Response('secret') });
    stops.push(() => void server.stop(true));
    const script = `const { createTransport } = await import(${JSON.stringify(join(import.meta.dir, 'transport.ts'))});
      const { Cancellation } = await import(${JSON.stringify(join(import.meta.dir, 'cancellation.ts'))});
      const limits = { connectMs: 30_000, headersMs: 30_000, firstTokenMs: 30_000, silenceMs: 30_000, wholeMs: 30_000 };
      const sending = { method: 'GET', url: 'https://${hostname}:${server.port}/', headers: {}, body: undefined };
      createTransport().send(sending, limits, performance.now() + limits.wholeMs, new Cancellation())
        .then((exchange) => exchange.readAll(100)).then((bytes) => console.log(Buffer.from(bytes).toString()), (error) => console.log(error.code, error.cause?.code));`;
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: { ...process.env, ...environment },
      stdout: 'pipe',
      timeout: 50_000,
    });
    return (await child.stdout.text()).trim();
  }

  const cert = { NODE_EXTRA_CA_CERTS: file('cert') };
  test.skipIf(!openssl)('a self-signed certificate is refused', async () => {
    expect(await askSecurely('localhost', {})).toMatch(/^upstream_failed DEPTH_ZERO_SELF_SIGNED_CERT/);
  });
  test.skipIf(!openssl)(
    'a certificate trusted by the operator is accepted, and the process ends by itself',
    async () => {
      expect(await askSecurely('localhost', cert)).toBe('secret');
    },
  );
  test.skipIf(!openssl)('a certificate for another name is refused', async () => {
    expect(await askSecurely('127.0.0.1', cert)).toMatch(/^upstream_failed ERR_TLS_CERT_ALTNAME_INVALID/);
  });
  test.skipIf(!openssl)('no certificate is verified if the operator disabled it', async () => {
    expect(await askSecurely('localhost', { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toBe('secret');
  });
});
