import { afterAll, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { GatewayError } from '../canonical/errors.ts';
import { Cancellation } from './cancellation.ts';
import type { Exchange } from './exchange.ts';
import type { TimeLimits } from './time-limits.ts';
import { createTransport } from './transport.ts';

const LIMITS: TimeLimits = { connectMs: 2000, headersMs: 2000, firstTokenMs: 2000, silenceMs: 500, wholeMs: 10_000 };
const CRLF = '\r\n';
const LOCAL = 'http://sandbox.invalid';
const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

/** Three mebibytes in which no two pieces are equal. */
const BYTES = Buffer.from(Array.from({ length: 3 << 16 }, (_, n) => `line ${n}`.padEnd(16)).join(''));

let connections = 0;

/** Sends the bytes, compressed or not. `closes`: closes the connection, possibly before the announced length. */
async function upstream(
  body: Buffer,
  headers = `content-length: ${body.length}${CRLF}`,
  closes = false,
): Promise<string> {
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('data', () => {
      socket.write(`HTTP/1.1 200 OK${CRLF}${headers}${CRLF}`);
      for (let at = 0; at < body.length; at += 50_000) socket.write(body.subarray(at, at + 50_000));
      if (closes) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/`;
}

const PACKED = gzipSync(BYTES);
const packed = `content-encoding: gzip${CRLF}content-length: ${PACKED.length}${CRLF}`;

const inPieces = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < BYTES.length; at += 70_000) controller.enqueue(BYTES.subarray(at, at + 70_000));
      controller.close();
    },
  });

const local = { [LOCAL]: async () => new Response(inPieces()) };

function ask(url: string, proxied = false, transport = createTransport({ proxied, local })): Promise<Exchange> {
  const sending = { method: 'GET', url, headers: {}, body: undefined };
  return transport.send(sending, LIMITS, performance.now() + LIMITS.wholeMs, new Cancellation());
}

/** Collects what was passed on and how it ended. After each piece it pauses for `pauseMs(n)`, if that is a number. */
function pour(exchange: Exchange, pauseMs: (n: number) => number | undefined) {
  const pieces: Uint8Array[] = [];
  const ends: (GatewayError | 'end')[] = [];
  let isPaused = false;
  let wrongly = 0;
  const over = Promise.withResolvers<void>();
  const ended = (how: GatewayError | 'end') => {
    if (isPaused) wrongly++;
    ends.push(how);
    over.resolve();
  };
  exchange.pour({
    bytes(bytes) {
      if (isPaused || ends.length > 0) wrongly++;
      const ms = pauseMs(pieces.push(bytes));
      if (ms === undefined) return;
      isPaused = true;
      exchange.pause();
      setTimeout(() => {
        isPaused = false;
        exchange.resume();
      }, ms);
    },
    end: () => ended('end'),
    failed: ended,
  });
  return {
    async done() {
      await over.promise;
      await Bun.sleep(20);
      return { bytes: Buffer.concat(pieces), ends, wrongly };
    },
  };
}

const sources: [string, () => Promise<Exchange>][] = [
  ['over a socket', async () => ask(await upstream(BYTES))],
  ['until the connection is closed', async () => ask(await upstream(BYTES, '', true))],
  ['packed', async () => ask(await upstream(PACKED, packed))],
  ['in this process', () => ask(`${LOCAL}/`)],
  ['through the environment’s proxy', async () => ask(await upstream(BYTES), true)],
];

describe.each(sources)('a body passed on %s', (_, begin) => {
  test.each<[string, (n: number) => number | undefined]>([
    ['without a pause', () => undefined],
    ['with a short one after every piece', () => 0],
    ['with one longer than an upstream may be silent', (n) => (n === 3 ? 900 : undefined)],
    ['with two, the second as it flows again', (n) => (n === 2 || n === 3 ? 300 : undefined)],
  ])('%s: every byte arrives once and in order, then the end', async (_, pauseMs) => {
    const { bytes, ends, wrongly } = await pour(await begin(), pauseMs).done();
    expect(bytes.equals(BYTES)).toBe(true);
    expect({ ends, wrongly }).toEqual({ ends: ['end'], wrongly: 0 });
  });

  test('cancelled while a piece is passed on: ends there and reports it once', async () => {
    const exchange = await begin();
    const { bytes, ends, wrongly } = await pour(exchange, (n) => {
      exchange.cancel();
      return n === 1 ? undefined : 0;
    }).done();
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.equals(BYTES.subarray(0, bytes.length))).toBe(true);
    expect({ ends, wrongly }).toMatchObject({ ends: [{ message: 'The call was cancelled.' }], wrongly: 0 });
  });
});

test('a failure during a pause is reported after it, behind the earlier bytes', async () => {
  const exchange = await ask(await upstream(BYTES.subarray(0, 200_000), `content-length: 200001${CRLF}`, true));
  const { bytes, ends, wrongly } = await pour(exchange, (n) => (n === 1 ? 400 : undefined)).done();
  expect(bytes.equals(BYTES.subarray(0, 200_000))).toBe(true);
  expect(wrongly).toBe(0);
  expect(ends).toMatchObject([{ code: 'upstream_failed', message: expect.stringContaining('broke off') }]);
});

test('bytes that arrived before `pour` come first', async () => {
  const exchange = await ask(await upstream(BYTES.subarray(0, 100_000)));
  await Bun.sleep(100);
  const { bytes, ends } = await pour(exchange, () => undefined).done();
  expect(bytes.equals(BYTES.subarray(0, 100_000))).toBe(true);
  expect(ends).toEqual(['end']);
});

test.each([
  ['plain', BYTES, undefined],
  ['packed', PACKED, packed],
])('after pauses the connection serves the next call: %s', async (_, body, headers) => {
  const url = await upstream(body, headers);
  const transport = createTransport();
  const before = connections;
  for (let calls = 0; calls < 3; calls++) {
    const poured = pour(await ask(url, false, transport), (n) => (n % 3 === calls ? 5 : undefined));
    expect((await poured.done()).bytes.equals(BYTES)).toBe(true);
  }
  expect(connections - before).toBe(1);
});
