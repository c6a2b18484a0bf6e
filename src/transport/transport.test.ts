import { afterAll, describe, expect, test } from 'bun:test';
import { connect, createServer, type Socket } from 'node:net';
import { failure } from '../../test/helpers/gateway-error.ts';
import type { GatewayError } from '../canonical/errors.ts';
import { Cancellation } from './cancellation.ts';
import type { TimeLimits } from './time-limits.ts';
import { createTransport } from './transport.ts';

const LIMITS: TimeLimits = {
  connectMs: 5000,
  headersMs: 5000,
  firstTokenMs: 5000,
  silenceMs: 5000,
  wholeMs: 10_000,
};
const CRLF = '\r\n';
const HEAD = `HTTP/1.1 200 OK${CRLF}content-type: text/plain${CRLF}`;

/** A raw server that answers with whatever `talk` writes. */
async function rawServer(talk: (socket: Socket) => void): Promise<{ url: string; closed: Promise<void> }> {
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', () => close());
    socket.once('data', () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/`, closed };
}

const SLEEPER = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  require('node:fs').writeSync(1, String(this.address().port) + '\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
});`;

/** A process that listens and is then busy. */
async function sleepingServer(): Promise<{ url: string; port: number }> {
  const child = Bun.spawn([process.execPath, '-e', SLEEPER], { stdout: 'pipe' });
  stops.push(() => child.kill());
  const { value } = await child.stdout.getReader().read();
  const port = Number(Buffer.from(value ?? []).toString());
  return { url: `http://127.0.0.1:${port}/`, port };
}

/** The kernel accepts connections until the backlog is full; further ones hang. */
async function fillBacklog(port: number): Promise<void> {
  for (let hangs = false, opened = 0; !hangs && opened < 2000; opened++) {
    const filler = connect(port, '127.0.0.1');
    filler.on('error', () => {});
    stops.push(() => filler.destroy());
    let isConnected = false;
    const connected = new Promise<void>((resolve) =>
      filler.once('connect', () => {
        isConnected = true;
        resolve();
      }),
    );
    // The second time: after a pause of this process the timer may be seen before the connection.
    for (let waits = 0; waits < 2 && !isConnected; waits++) await Promise.race([connected, Bun.sleep(500)]);
    hangs = !isConnected;
  }
}

const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

function send(url: string, limits: Partial<TimeLimits> = {}, cancellation = new Cancellation()) {
  const all = { ...LIMITS, ...limits };
  const sending = { method: 'POST', url, headers: {}, body: Buffer.from('{}') };
  return createTransport().send(sending, all, performance.now() + all.wholeMs, cancellation);
}

async function readAll(url: string, limits: Partial<TimeLimits> = {}) {
  return (await send(url, limits)).readAll(1 << 20);
}

describe('responses', () => {
  test('have status, headers and bytes', async () => {
    const { url } = await rawServer((socket) => socket.end(`${HEAD}content-length: 5${CRLF}${CRLF}hello`));
    const exchange = await send(url);
    expect(exchange.status).toBe(200);
    expect(exchange.headers.get('content-type')).toBe('text/plain');
    expect(Buffer.from(await exchange.readAll(100)).toString()).toBe('hello');
  });

  test('with a redirect are returned, not followed', async () => {
    const { url } = await rawServer((socket) =>
      socket.end(`HTTP/1.1 302 Found${CRLF}location: /elsewhere${CRLF}content-length: 0${CRLF}${CRLF}`),
    );
    expect((await send(url)).status).toBe(302);
  });

  test('above the size limit are refused', async () => {
    const { url } = await rawServer((socket) =>
      socket.end(`${HEAD}connection: close${CRLF}${CRLF}${'x'.repeat(5000)}`),
    );
    const tooMuch = send(url).then((exchange) => exchange.readAll(1000));
    expect((await failure(tooMuch)).code).toBe('upstream_failed');
  });

  test('of a local origin come without a connection', async () => {
    const transport = createTransport({
      local: { 'http://sandbox.invalid': async (request) => new Response(await request.text()) },
    });
    const sending = { method: 'POST', url: 'http://sandbox.invalid/v1', headers: {}, body: Buffer.from('echo') };
    const exchange = await transport.send(sending, LIMITS, performance.now() + 10_000, new Cancellation());
    expect(Buffer.from(await exchange.readAll(100)).toString()).toBe('echo');
  });
});

describe('failures', () => {
  test('a refused connection', async () => {
    const error = await failure(send('http://127.0.0.1:1/'));
    expect(error.code).toBe('upstream_failed');
    expect(error.retryable).toBe(true);
    expect(error.message).not.toContain('127.0.0.1');
  });

  test('a reset before the headers', async () => {
    const { url } = await rawServer((socket) => socket.resetAndDestroy());
    expect((await failure(send(url))).code).toBe('upstream_failed');
  });

  test('an incomplete body with content-length', async () => {
    const { url } = await rawServer((socket) => socket.end(`${HEAD}content-length: 50${CRLF}${CRLF}hello`));
    expect((await failure(readAll(url))).code).toBe('upstream_failed');
  });

  test('an incomplete chunked body', async () => {
    const { url } = await rawServer((socket) =>
      socket.end(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}5${CRLF}hello${CRLF}`),
    );
    expect((await failure(readAll(url))).code).toBe('upstream_failed');
  });
});

describe('time limits', () => {
  test('connect: a port with a full backlog whose owner never accepts', async () => {
    const { url, port } = await sleepingServer();
    await fillBacklog(port);
    const error = await failure(send(url, { connectMs: 100 }));
    expect(error.code).toBe('upstream_timeout');
    expect(error.message).toContain('accept a connection');
  });

  test('headers', async () => {
    const { url } = await rawServer(() => {});
    const error = await failure(send(url, { headersMs: 80 }));
    expect(error.code).toBe('upstream_timeout');
    expect(error.message).toContain('begin to answer');
  });

  test('first token', async () => {
    const { url } = await rawServer((socket) => socket.write(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}`));
    const error = await failure(readAll(url, { firstTokenMs: 80 }));
    expect(error.code).toBe('upstream_timeout');
    expect(error.message).toContain('sent headers');
  });

  test('silence', async () => {
    const { url } = await rawServer((socket) =>
      socket.write(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}5${CRLF}hello${CRLF}`),
    );
    const error = await failure(readAll(url, { silenceMs: 80 }));
    expect(error.code).toBe('upstream_timeout');
    expect(error.message).toContain('fell silent');
  });

  test('whole: a body without an end', async () => {
    const { url } = await rawServer((socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}`);
      const drip = setInterval(() => socket.write(`1${CRLF}x${CRLF}`), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const error = await failure(readAll(url, { wholeMs: 200 }));
    expect(error.code).toBe('upstream_timeout');
    expect(error.message).toContain('whole call');
    expect(error.retryable).toBe(false);
  });

  /** Resolves with the failure and its time. */
  async function poured(url: string, limits: Partial<TimeLimits>): Promise<{ failure?: GatewayError; ms: number }> {
    const exchange = await send(url, limits);
    const { promise, resolve } = Promise.withResolvers<GatewayError | undefined>();
    let last = performance.now();
    const bytes = () => {
      last = performance.now();
    };
    exchange.pour({ bytes, end: () => resolve(undefined), failed: resolve });
    const failure = await promise;
    return { ...(failure && { failure }), ms: performance.now() - last };
  }

  test('whole: a body that is poured without a pause', async () => {
    const { url, closed } = await rawServer((socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}`);
      const drip = setInterval(() => socket.write(`1${CRLF}x${CRLF}`), 2);
      socket.on('close', () => clearInterval(drip));
    });
    const started = performance.now();
    const { failure } = await poured(url, { wholeMs: 400 });
    expect(failure).toMatchObject({ code: 'upstream_timeout', retryable: false });
    expect(performance.now() - started).toBeWithin(390, 10_000);
    await closed;
  });

  test('silence of a poured body counts from the last bytes', async () => {
    const { url, closed } = await rawServer((socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}`);
      for (let at = 0; at < 200; at += 50) setTimeout(() => socket.write(`1${CRLF}x${CRLF}`), at);
    });
    const { failure, ms } = await poured(url, { silenceMs: 250 });
    expect(failure?.message).toContain('fell silent');
    expect(ms).toBeWithin(245, 10_000);
    await closed;
  });
});

describe('cancelling', () => {
  test('cancels work in progress once, ended work not at all, and later work at once', () => {
    const cancellation = new Cancellation();
    const reached: string[] = [];
    const one = (name: string) => ({ cancel: () => void reached.push(name) });
    const [first, second, third] = [one('first'), one('second'), one('third')];
    for (const under of [first, second, third]) cancellation.add(under);
    cancellation.delete(first);
    cancellation.delete(third);
    cancellation.add(one('fourth'));
    expect(reached).toEqual([]);
    cancellation.cancel();
    cancellation.cancel();
    expect(reached.sort()).toEqual(['fourth', 'second']);
    cancellation.add(one('late'));
    expect(reached).toEqual(['fourth', 'second', 'late']);
  });

  test('before the headers, by signal', async () => {
    const cancellation = new Cancellation();
    const { url, closed } = await rawServer(() => cancellation.cancel());
    const sending = send(url, {}, cancellation);
    expect((await failure(sending)).retryable).toBe(false);
    await closed;
  });

  test('in the middle of a body closes the connection and fails a waiting read', async () => {
    const { url, closed } = await rawServer((socket) =>
      socket.write(`${HEAD}transfer-encoding: chunked${CRLF}${CRLF}5${CRLF}hello${CRLF}`),
    );
    const exchange = await send(url);
    await exchange.read();
    const waiting = failure(exchange.read());
    exchange.cancel();
    await waiting;
    await closed;
  });
});
