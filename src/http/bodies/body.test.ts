import { afterAll, expect, test } from 'bun:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { UNCOUNTED } from '../../access/work-bounds.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import type { Answer } from '../../http1/answer.ts';
import { listen } from '../../http1/server.ts';
import { readBody } from './body.ts';

const MAX_BYTES = 10_000;

/** Answers with the body that was read, or with the error's code. */
const server = listen({
  hostname: '127.0.0.1',
  port: 0,
  shared: false,
  async answer(request) {
    try {
      return { status: 200, headers: {}, body: await readBody(request, MAX_BYTES, UNCOUNTED) };
    } catch (thrown) {
      return refuse(thrown as GatewayError);
    }
  },
  refuse: ({ status, message }) => ({ status, headers: {}, body: message }),
  reportError: () => {},
});
afterAll(() => server.kill());

function refuse({ code, status }: GatewayError): Answer {
  return { status, headers: {}, body: code };
}

const TEXT = JSON.stringify({ text: 'ä'.repeat(1000) });

async function post(body: Bun.BodyInit, encoding?: string): Promise<string> {
  const headers: { [name: string]: string } = encoding ? { 'content-encoding': encoding } : {};
  const response = await fetch(`http://127.0.0.1:${server.port}`, { method: 'POST', body, headers });
  return response.text();
}

/** Sent in pieces, without content-length. */
function streamed(bytes: Uint8Array, pieces: number): ReadableStream<Uint8Array> {
  const size = Math.ceil(bytes.length / pieces);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1);
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(at, at + size));
      at += size;
    },
  });
}

test('a plain body is read unchanged, in one piece or streamed', async () => {
  expect(await post(TEXT)).toBe(TEXT);
  expect(await post(streamed(Buffer.from(TEXT), 7))).toBe(TEXT);
  expect(await (await fetch(`http://127.0.0.1:${server.port}`)).text()).toBe('');
});

test.each([
  ['gzip', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT)],
  ['identity', Buffer.from(TEXT)],
  ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
])('a body in %s is decompressed', async (encoding, body) => {
  expect(await post(body, encoding)).toBe(TEXT);
});

test('a body of exactly the maximum size is accepted', async () => {
  const text = 'x'.repeat(MAX_BYTES);
  expect(await post(text)).toBe(text);
  expect(await post(gzipSync(text), 'gzip')).toBe(text);
});

test('a body above the maximum size is refused, whether its length is announced, unknown or reached by decompression', async () => {
  const text = 'x'.repeat(MAX_BYTES + 1);
  expect(await post(text)).toBe('request_too_large');
  expect(await post(streamed(Buffer.from(text), 5))).toBe('request_too_large');
  for (const [encoding, body] of [
    ['gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
  ] as const) {
    expect(body.length).toBeLessThan(MAX_BYTES);
    expect(await post(body, encoding)).toBe('request_too_large');
  }
});

test('a body that does not match its encoding, or has an unknown encoding, is refused', async () => {
  expect(await post(TEXT, 'gzip')).toBe('invalid_request');
  expect(await post(gzipSync(TEXT).subarray(0, 20), 'gzip')).toBe('invalid_request');
  expect(await post(TEXT, 'lzma')).toBe('invalid_request');
});
