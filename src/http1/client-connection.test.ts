import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Socket } from 'bun';
import { answered, echo, GET, open, readAll, SHORT, serve, source, text } from '../../test/helpers/raw-client.ts';
import type { Answer } from './answer.ts';
import { ClientConnection, type Keeper, PATIENCE, type Timeouts } from './client-connection.ts';
import type { ClientRequest } from './client-request.ts';
import type { Beginning } from './request-turns.ts';

describe('connections', () => {
  const server = serve(echo);
  test('close after the response with `connection: close` and with HTTP/1.0', async () => {
    for (const request of ['GET / HTTP/1.1\nhost: x\nconnection: Close\n\n', 'GET / HTTP/1.0\n\n']) {
      const line = await open(server);
      line.say(request);
      expect(await line.closed()).toBe(answered('GET / - ', 'connection: close\n'));
    }
  });

  test('send the length but no body for HEAD', async () => {
    const line = await open(server);
    line.say('HEAD / HTTP/1.1\nhost: x\n\n');
    expect(await line.ends('\n\n')).toBe('HTTP/1.1 200 OK\nx-is: text\ncontent-length: 9\n\n');
    line.socket.destroy();
  });

  test("know the peer's address", async () => {
    const line = await open(serve(({ address }) => text(address)));
    line.say(GET);
    expect(await line.ends('127.0.0.1')).toBe(answered('127.0.0.1'));
    line.socket.destroy();
  });

  test('a stop closes idle connections at once and others after their response', async () => {
    let release = () => {};
    const waited = new Promise<void>((resolve) => {
      release = resolve;
    });
    const entered = Promise.withResolvers<void>();
    const stopping = serve(async () => {
      entered.resolve();
      await waited;
      return text('done');
    });
    const idle = await open(stopping);
    const busy = await open(stopping);
    busy.say(GET);
    await entered.promise;
    const stopped = stopping.stop();
    await idle.closed();
    release();
    expect(await busy.closed()).toBe(answered('done', 'connection: close\n'));
    await stopped;
  });

  test('a stop closes a connection whose last request body is incomplete', async () => {
    const stopping = serve(() => text('no'));
    const line = await open(stopping);
    line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\n');
    await line.ends('no');
    line.say('he');
    await Bun.sleep(20);
    const begun = performance.now();
    await stopping.stop();
    expect(performance.now() - begun).toBeLessThan(5000);
    await line.closed();
  });

  test('data that a slow client has not read yet is delivered after the connection ends', async () => {
    const body = 'x'.repeat(500_000);
    const server = serve(() => text(body), { ...SHORT, flushMs: 60_000 });
    const last = await open(server);
    const idle = await open(server);
    for (const { socket } of [last, idle]) socket.pause();
    last.say('GET / HTTP/1.0\n\n');
    idle.say(GET);
    await Bun.sleep(SHORT.idleMs + 500);
    for (const { socket } of [last, idle]) socket.resume();
    expect(await last.closed()).toBe(answered(body, 'connection: close\n'));
    expect(await idle.closed()).toBe(answered(body));
  });

  test('a client that closes its sending side counts as disconnected', async () => {
    const log: string[] = [];
    const left = Promise.withResolvers<void>();
    const answering = Promise.withResolvers<void>();
    const server = serve(async (request) => {
      request.onLeave = () => {
        log.push('left');
        left.resolve();
      };
      await left.promise;
      log.push(`${request.hasLeft} "${request.address}"`);
      answering.resolve();
      return text('late');
    });
    const line = await open(server);
    line.socket.end('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await line.closed()).toBe('');
    await answering.promise;
    expect(log).toEqual(['left', 'true ""']);
  });

  test('time limits for an idle connection, an incomplete head, an incomplete body and an unread response', async () => {
    const idle = await open(serve(echo, SHORT));
    expect(await idle.closed()).toBe('');
    const limits = { ...SHORT, idleMs: 60_000 };
    const head = await open(serve(echo, limits));
    head.say('GET / HTTP/1.1\nho');
    expect(await head.closed()).toStartWith('HTTP/1.1 408 Request Timeout\n');
    const slow = serve((request) => readAll(request).then(text, ({ status }) => text(String(status))), limits);
    const body = await open(slow);
    body.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\nhel');
    expect(await body.closed()).toBe(answered('408', 'connection: close\n'));
    const entered = Promise.withResolvers<void>();
    const stopping = serve(() => {
      entered.resolve();
      return { status: 200, headers: {}, body: Buffer.alloc(64 << 20) };
    }, limits);
    const deaf = await open(stopping);
    deaf.socket.pause();
    deaf.say(GET);
    await entered.promise;
    // It ends when the last connection has been closed.
    await stopping.stop();
    deaf.socket.resume();
    expect((await deaf.closed()).length).toBeLessThan(64 << 20);
  });

  test('HTTP/1.0 keeps a connection on request if the length is known', async () => {
    const sources: { [target: string]: Answer } = {
      '/known': text('known'),
      '/unknown': { status: 200, headers: {}, body: source(['un', 'known']) },
    };
    const line = await open(serve(({ target }) => sources[target] ?? text('none')));
    line.say('GET /known HTTP/1.0\nconnection: Keep-Alive\n\n');
    await line.ends('known');
    line.say('HEAD /known HTTP/1.0\nConnection: x, keep-alive\n\n');
    await line.until((seen) => seen.split('\n\n').length > 2);
    line.say('GET /unknown HTTP/1.0\nconnection: keep-alive\n\n');
    const known = 'HTTP/1.1 200 OK\nx-is: text\ncontent-length: 5\nconnection: keep-alive\n\n';
    expect(await line.closed()).toBe(`${known}known${known}HTTP/1.1 200 OK\nconnection: close\n\nunknown`);
  });

  test('a body that arrives too slowly, on average or in total, is refused', async () => {
    const status = (request: ClientRequest) =>
      readAll(request).then(text, (fault) => text(`${fault.status}: ${fault.message}`));
    const trickle = async (timeouts: Partial<Timeouts>) => {
      const line = await open(serve(status, { ...SHORT, idleMs: 60_000, silenceMs: 5000, ...timeouts }));
      line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 1000\n\n');
      const drip = setInterval(() => line.say('x'), 20);
      const seen = await line.closed();
      clearInterval(drip);
      return seen.split('\n').at(-1);
    };
    const least = "408: The request's body arrived too slowly: the minimum is 500 bytes per second.";
    expect(await trickle({ bodyBytesPerSecond: 500, bodyGraceMs: 200 })).toBe(least);
    expect(await trickle({ bodyMs: 300 })).toBe('408: The request did not arrive completely in time.');
  });

  test('time during which the body was not read does not count against the client', async () => {
    const slow = async (request: ClientRequest) => {
      await Bun.sleep(1600);
      return text(String((await readAll(request)).length));
    };
    const limits = { silenceMs: 5000, bodyMs: 1500, bodyBytesPerSecond: 2_000_000, bodyGraceMs: 1000 };
    const line = await open(serve(slow, { ...SHORT, ...limits }));
    line.say(`POST / HTTP/1.1\nhost: x\ncontent-length: 1000000\n\n${'x'.repeat(1_000_000)}`);
    expect(await line.ends('1000000')).toBe(answered('1000000'));
    line.socket.destroy();
  });

  test('a body far above the limit is read and dropped, so that the client can read the refusal', async () => {
    const { port } = serve(() => ({ status: 413, headers: {}, body: 'too large' }));
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let seen = '';
    socket.on('data', (bytes) => {
      seen += bytes;
    });
    let sent = 0;
    async function* body() {
      yield Buffer.from(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${70 << 20}\r\n\r\n`);
      for (; sent < 70; sent++) yield Buffer.alloc(1 << 20);
    }
    await pipeline(body, socket);
    expect({ sent, seen }).toMatchObject({ sent: 70, seen: expect.stringMatching(/^HTTP\/1.1 413[\s\S]*too large$/) });
  });
});

test('a request whose client leaves before its turn is not handled', () => {
  const waiting: Beginning[] = [];
  let handled = 0;
  const keeper: Keeper = {
    answer() {
      handled++;
      return text('too late');
    },
    refuse: () => text('refused'),
    reportError(sentence, cause) {
      throw new Error(`${sentence} ${String(cause)}`);
    },
    timeouts: PATIENCE,
    turns: { add: (request) => waiting.push(request) },
    isStopping: false,
    lost() {},
  };
  const socket = { write: (all: Uint8Array) => all.length } as unknown as Socket<ClientConnection>;
  for (const leaves of [true, false]) {
    const connection = new ClientConnection(socket, keeper);
    connection.received(Buffer.from(GET.replaceAll('\n', '\r\n')));
    if (leaves) connection.closed();
  }
  expect(waiting).toHaveLength(2);
  for (const request of waiting) request.begin();
  expect(handled).toBe(1);
});
