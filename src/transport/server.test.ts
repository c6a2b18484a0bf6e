import { afterAll, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import type { GatewayError } from '../canonical/errors.ts';
import type { Answer, ByteSink, ByteSource } from './answer.ts';
import type { Patience } from './client-connection.ts';
import type { ClientRequest } from './client-request.ts';
import { listen, type Server } from './server.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.kill();
});

type Answering = (request: ClientRequest) => Answer | Promise<Answer>;

const SHORT: Patience = { idleMs: 150, headMs: 150, silenceMs: 150, flushMs: 150, lingerMs: 150 };

function serve(answer: Answering, patience?: Patience): Server {
  const refuse = ({ status, message }: GatewayError): Answer => ({ status, headers: {}, body: message });
  const server = listen({
    hostname: '127.0.0.1',
    port: 0,
    shared: false,
    answer,
    refuse,
    ...(patience && { patience }),
  });
  servers.push(server);
  return server;
}

const text = (body: string): Answer => ({ status: 200, headers: { 'x-is': 'text' }, body });

async function readAll({ body }: ClientRequest): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await body.read(); piece; piece = await body.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Says what it was asked, with its body. */
const echo: Answering = async (request) => {
  const { method, target, headers } = request;
  return text(`${method} ${target} ${headers.get('x-one') ?? '-'} ${await readAll(request)}`);
};

/** A raw client: what it has received is `seen`, the varying date left out. */
async function open({ port }: Server) {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  let seen = '';
  let isClosed = false;
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  await new Promise<void>((resolve) => socket.on('connect', () => resolve()));
  return {
    socket,
    say: (words: string) => void socket.write(Buffer.from(words.replaceAll('\n', '\r\n'), 'latin1')),
    get seen() {
      return seen.replace(/date: [^\r]*\r\n/g, '').replaceAll('\r\n', '\n');
    },
    /** What has come when it holds, within two seconds. */
    async until(holds: (seen: string, isClosed: boolean) => boolean): Promise<string> {
      for (const end = performance.now() + 4000; performance.now() < end; ) {
        if (holds(this.seen, isClosed)) return this.seen;
        await Bun.sleep(2);
      }
      throw new Error(`never came: ${JSON.stringify(this.seen.slice(0, 2000))}, ${isClosed ? 'closed' : 'open'}`);
    },
    closed() {
      return this.until((_, closed) => closed);
    },
    ends(with_: string) {
      return this.until((all) => all.endsWith(with_));
    },
  };
}

const GET = 'GET /a HTTP/1.1\nhost: x\n\n';
const answered = (body: string, more = '') =>
  `HTTP/1.1 200 OK\nx-is: text\ncontent-length: ${body.length}\n${more}\n${body}`;

describe('requests', () => {
  const server = serve(echo);
  const cases: [name: string, request: string, body: string][] = [
    ['without a body', 'GET /a?b=c HTTP/1.1\nHost: x\n\n', 'GET /a?b=c - '],
    ['of stated length', 'POST / HTTP/1.1\nhost: x\nContent-Length: 5\nX-One:  two \n\nhello', 'POST / two hello'],
    ['a header twice', 'POST / HTTP/1.1\nhost: x\nx-one: a\nx-ones: b\nX-ONE: c\n\n', 'POST / a, c '],
    [
      'in chunks, with an extension and trailers',
      'POST / HTTP/1.1\nhost: x\ntransfer-encoding: Chunked\n\n5;a=b\nhello\n00A\n, world!!!\n0\nx: y\n\n',
      'POST / - hello, world!!!',
    ],
    ['an empty line before it', '\n\nGET / HTTP/1.1\nhost: x\n\n', 'GET / - '],
    ['as a proxy is asked', 'GET http://x:1/a?b HTTP/1.1\nhost: x:1\n\n', 'GET /a?b - '],
    ['as a proxy is asked, no path', 'GET http://x HTTP/1.1\nhost: x\n\n', 'GET / - '],
  ];
  test.each(cases)('%s, in one piece and byte by byte', async (_name, request, body) => {
    const line = await open(server);
    line.say(request);
    expect(await line.ends(body)).toBe(answered(body));
    for (const byte of request.replaceAll('\n', '\r\n')) {
      line.socket.write(byte);
      await Bun.sleep(0);
    }
    expect(await line.until((seen) => seen.endsWith(body) && seen.length > answered(body).length)).toBe(
      answered(body) + answered(body),
    );
    line.socket.destroy();
  });

  test('a thousand in one go are answered in order', async () => {
    const line = await open(server);
    const numbers = Array.from({ length: 1000 }, (_, index) => index);
    line.say(numbers.map((n) => `POST /${n} HTTP/1.1\nhost: x\ncontent-length: 1\n\n!`).join(''));
    const all = await line.ends('POST /999 - !');
    expect(all).toBe(numbers.map((n) => answered(`POST /${n} - !`)).join(''));
    line.socket.destroy();
  });

  test('a body of eight megabytes arrives whole, and waits for whoever reads it', async () => {
    const mine = serve(async (request) => {
      await Bun.sleep(50);
      return echo(request);
    });
    const body = Buffer.alloc(8 << 20, 'abcdefg');
    const response = await fetch(`http://127.0.0.1:${mine.port}/`, { method: 'POST', body });
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.concat([Buffer.from('POST / - '), body]))).toBe(
      true,
    );
  });

  test('who waits to be asked for its body is asked once, and only where it is wanted', async () => {
    const head = 'POST / HTTP/1.1\nhost: x\nexpect: 100-continue\ncontent-length: 5\n\n';
    const line = await open(server);
    line.say(head);
    expect(await line.ends('\n\n')).toBe('HTTP/1.1 100 Continue\n\n');
    line.say('hel');
    await Bun.sleep(10);
    line.say('lo');
    expect(await line.ends('hello')).toBe(`HTTP/1.1 100 Continue\n\n${answered('POST / - hello')}`);
    line.socket.destroy();
    const unwanted = await open(serve(() => text('no')));
    unwanted.say(head);
    expect(await unwanted.closed()).toBe(answered('no', 'connection: close\n'));
  });

  test('a body that nobody reads: a small one is skipped, a large one ends the connection', async () => {
    const line = await open(serve(() => text('no')));
    line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\n');
    await line.ends('no');
    line.say(`hello${GET}`);
    expect(await line.until((seen) => seen.length > answered('no').length)).toBe(answered('no') + answered('no'));
    line.say('POST / HTTP/1.1\nhost: x\ncontent-length: 500000\n\n');
    line.socket.write('x'.repeat(400_000));
    expect(await line.closed()).toEndWith(answered('no', 'connection: close\n'));
  });
});

describe('connections', () => {
  const server = serve(echo);
  test('connection: close, and HTTP/1.0, end with the answer', async () => {
    for (const request of ['GET / HTTP/1.1\nhost: x\nconnection: Close\n\n', 'GET / HTTP/1.0\n\n']) {
      const line = await open(server);
      line.say(request);
      expect(await line.closed()).toBe(answered('GET / - ', 'connection: close\n'));
    }
  });

  test('HEAD is told the length and no body', async () => {
    const line = await open(server);
    line.say('HEAD / HTTP/1.1\nhost: x\n\n');
    expect(await line.ends('\n\n')).toBe('HTTP/1.1 200 OK\nx-is: text\ncontent-length: 9\n\n');
    line.socket.destroy();
  });

  test('the address of the other end', async () => {
    const line = await open(serve(({ address }) => text(address)));
    line.say(GET);
    expect(await line.ends('127.0.0.1')).toBe(answered('127.0.0.1'));
    line.socket.destroy();
  });

  test('a stop ends idle connections at once and the others with their answer', async () => {
    let release = () => {};
    const waited = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stopping = serve(async () => {
      await waited;
      return text('done');
    });
    const idle = await open(stopping);
    const busy = await open(stopping);
    busy.say(GET);
    await Bun.sleep(20);
    const stopped = stopping.stop();
    await idle.closed();
    release();
    expect(await busy.closed()).toBe(answered('done', 'connection: close\n'));
    await stopped;
  });

  test('patience: an idle connection, half a head, half a body, an answer nobody takes', async () => {
    const patient = serve(echo, SHORT);
    const idle = await open(patient);
    expect(await idle.closed()).toBe('');
    const head = await open(patient);
    head.say('GET / HTTP/1.1\nho');
    expect(await head.closed()).toStartWith('HTTP/1.1 408 Request Timeout\n');
    const slow = serve((request) => readAll(request).then(text, ({ status }) => text(String(status))), SHORT);
    const body = await open(slow);
    body.say('POST / HTTP/1.1\nhost: x\ncontent-length: 5\n\nhel');
    expect(await body.closed()).toBe(answered('408', 'connection: close\n'));
    const deaf = await open(serve(() => ({ status: 200, headers: {}, body: Buffer.alloc(32 << 20) }), SHORT));
    deaf.socket.pause();
    deaf.say(GET);
    await Bun.sleep(600);
    deaf.socket.resume();
    expect((await deaf.closed()).length).toBeLessThan(32 << 20);
  });
});

describe('what is no request', () => {
  const server = serve(echo);
  const cases: [name: string, request: string, status?: number][] = [
    ['no HTTP', 'hello\n\n'],
    ['another version', 'GET / HTTP/2.0\nhost: x\n\n'],
    ['a space in the target', 'GET /a b HTTP/1.1\nhost: x\n\n'],
    ['no host', 'GET / HTTP/1.1\n\n'],
    ['two hosts', 'GET / HTTP/1.1\nhost: x\nhost: y\n\n'],
    ['a folded line', 'GET / HTTP/1.1\nhost: x\nx: 1\n  2\n\n'],
    ['a space before the colon', 'GET / HTTP/1.1\nhost: x\nx : 1\n\n'],
    ['a length and chunks', 'POST / HTTP/1.1\nhost: x\ncontent-length: 3\ntransfer-encoding: chunked\n\n0\n\n'],
    ['two lengths', 'POST / HTTP/1.1\nhost: x\ncontent-length: 3\ncontent-length: 4\n\nabc'],
    ['a length that is none', 'POST / HTTP/1.1\nhost: x\ncontent-length: +3\n\nabc'],
    ['another transfer-encoding', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: gzip, chunked\n\n0\n\n'],
    ['chunks of HTTP/1.0', 'POST / HTTP/1.0\nhost: x\ntransfer-encoding: chunked\n\n0\n\n'],
    ['a chunk without a size', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\nxyz\n'],
    ['a chunk longer than its size', 'POST / HTTP/1.1\nhost: x\ntransfer-encoding: chunked\n\n1\nabc\n0\n\n'],
    ['a head without end', `GET / HTTP/1.1\nhost: x\n${'x: 1\n'.repeat(20_000)}`, 431],
  ];
  test.each(cases)('%s', async (_name, request, status = 400) => {
    const line = await open(server);
    line.say(request);
    const seen = await line.closed();
    expect(seen).toStartWith(`HTTP/1.1 ${status} `);
    expect(seen).toContain('connection: close');
    expect(seen).toContain('This is no proper HTTP request: ');
  });

  test('bare line ends, after a request that was answered', async () => {
    const line = await open(server);
    line.say(GET);
    await line.ends('GET /a - ');
    line.socket.write('GET / HTTP/1.1\nhost: x\n\nGET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await line.closed()).toContain('HTTP/1.1 400 Bad Request\n');
  });
});

/** Brings these pieces, each when it is asked for the next. */
function source(pieces: readonly (string | Uint8Array)[], log: string[] = []): ByteSource {
  const left = [...pieces];
  let sink: ByteSink;
  return {
    start(given) {
      sink = given;
    },
    async pull() {
      await Bun.sleep(0);
      const piece = left.shift();
      if (piece === undefined) sink.end();
      else if (piece === 'fail!') sink.fail();
      else if (piece === 'throw!') throw new Error('broken');
      else sink.write(Buffer.from(piece as string));
    },
    cancel: () => void log.push('cancelled'),
  };
}

describe('answers that come bit by bit', () => {
  const streamed = (body: ByteSource, headers = {}): Answer => ({ status: 200, headers, body });

  test('in chunks; to HTTP/1.0 until the close; to HEAD none', async () => {
    const log: string[] = [];
    const server = serve(() => streamed(source(['hello', 'world'], log)));
    const line = await open(server);
    line.say(GET);
    const chunks = 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n5\nworld\n0\n\n';
    expect(await line.ends('0\n\n')).toBe(chunks);
    line.say('HEAD / HTTP/1.1\nhost: x\n\n');
    expect(await line.until((seen) => seen.length > chunks.length)).toBe(
      `${chunks}HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n`,
    );
    expect(log).toEqual(['cancelled']);
    const old = await open(server);
    old.say('GET / HTTP/1.0\n\n');
    expect(await old.closed()).toBe('HTTP/1.1 200 OK\nconnection: close\n\nhelloworld');
    line.socket.destroy();
  });

  test('of a length that was said: exactly so many bytes, or none of it can be taken for whole', async () => {
    const said = { 'content-length': '8' };
    const whole = await open(serve(() => streamed(source(['abcd', 'efgh']), said)));
    whole.say(GET);
    expect(await whole.ends('efgh')).toBe('HTTP/1.1 200 OK\ncontent-length: 8\n\nabcdefgh');
    for (const pieces of [['abcd'], ['abcd', 'efghi']]) {
      const line = await open(serve(() => streamed(source(pieces), said)));
      line.say(GET);
      expect(await line.closed()).toBe('HTTP/1.1 200 OK\ncontent-length: 8\n\nabcd');
    }
    whole.socket.destroy();
  });

  test.each(['fail!', 'throw!'])('one that breaks off (%s) has no end', async (how) => {
    const line = await open(serve(() => streamed(source(['hello', how]))));
    line.say(GET);
    expect(await line.closed()).toBe('HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n');
  });

  test('a client that does not read holds its source up, and gets all of it in the end', async () => {
    const piece = Buffer.alloc(1 << 20, 'x');
    const PIECES = 24;
    let pulled = 0;
    const server = serve(() => {
      const inner = source(Array.from({ length: PIECES }, () => piece));
      return streamed({
        start: (sink) => inner.start(sink),
        pull() {
          pulled++;
          return inner.pull();
        },
        cancel() {},
      });
    });
    const { socket } = await open(server);
    socket.pause();
    socket.write(GET.replaceAll('\n', '\r\n'));
    await Bun.sleep(300);
    expect(pulled).toBeLessThan(PIECES - 8);
    let length = 0;
    let end = '';
    socket.on('data', (bytes) => {
      length += bytes.length;
      end = bytes.toString('latin1').slice(-5);
    });
    socket.resume();
    for (let waited = 0; end !== '0\r\n\r\n' && waited < 1000; waited++) await Bun.sleep(4);
    expect(length).toBeGreaterThan(PIECES << 20);
    expect(end).toBe('0\r\n\r\n');
    socket.destroy();
  });

  test('a client that leaves is noticed: before the answer, and within it', async () => {
    const log: string[] = [];
    const before = await open(
      serve(async (request) => {
        request.onLeave = () => log.push('left');
        await Bun.sleep(100);
        log.push(request.hasLeft ? 'gone' : 'there');
        return streamed(source(['too late'], log));
      }),
    );
    before.say(GET);
    await Bun.sleep(30);
    before.socket.destroy();
    await Bun.sleep(150);
    expect(log).toEqual(['left', 'gone', 'cancelled']);

    const within: string[] = [];
    const line = await open(
      serve(() =>
        streamed({
          start: (sink) => sink.write(Buffer.from('x')),
          pull: () => new Promise(() => {}),
          cancel: () => void within.push('cancelled'),
        }),
      ),
    );
    line.say(GET);
    await line.ends('1\nx\n');
    line.socket.destroy();
    await Bun.sleep(100);
    expect(within).toEqual(['cancelled']);
  });

  test('a header that cannot be said is our own failure, not a second header', async () => {
    const line = await open(serve(() => ({ status: 200, headers: { 'x-a': 'b\r\nx-c: d' }, body: 'secret' })));
    line.say(GET);
    const seen = await line.closed();
    expect(seen).toStartWith('HTTP/1.1 500 ');
    expect(seen).not.toContain('x-c');
  });
});
