/** Upstreams that send endlessly, or much more than their compressed size: the call fails as an upstream error, within limits. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

const MIB = 1024 * 1024;
/** The maximum that an upstream sends if nothing stops it. */
const ENDLESS_BYTES = 400 * MIB;
let gateway: GatewayProcess;
let upstream: Server;
/** The bytes sent for the last request. */
let sentBytes = 0;

const JSON_START = '{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"content":"';

async function pour(response: ServerResponse | NodeJS.WritableStream, piece: Buffer): Promise<void> {
  for (sentBytes = 0; sentBytes < ENDLESS_BYTES; sentBytes += piece.length) {
    if ('destroyed' in response && response.destroyed) return;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close'), Bun.sleep(2000)]);
  }
  response.end();
}

const REPLIES: { readonly [name: string]: (response: ServerResponse) => unknown } = {
  json: (response) => {
    response.setHeader('content-type', 'application/json');
    response.write(JSON_START);
    return pour(response, Buffer.alloc(256 * 1024, 'a'));
  },
  comments: (response) => {
    response.setHeader('content-type', 'text/event-stream');
    return pour(response, Buffer.from(': nothing yet\n\n'.repeat(10_000)));
  },
  event: (response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write('data: ');
    return pour(response, Buffer.alloc(256 * 1024, 'a'));
  },
  'gzip-comments': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    const packer = createGzip();
    packer.pipe(response);
    response.on('close', () => packer.destroy());
    return pour(packer, Buffer.from(': nothing yet\n\n'.repeat(10_000)));
  },
  'gzip-json': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(Buffer.concat([Buffer.from(JSON_START), Buffer.alloc(60 * MIB, 'a'), Buffer.from('"}}]}')])));
  },
};

beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    request.resume();
    await once(request, 'end');
    const name = request.url?.split('/')[1] ?? '';
    await REPLIES[name]?.(response);
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const names = Object.keys(REPLIES);
  gateway = await startGateway({
    providers: names.map((name) => ({
      name,
      type: 'openai-compatible',
      baseUrl: `http://127.0.0.1:${port}/${name}`,
      credential: 'k',
    })),
    models: names.map((name) => ({
      name,
      kind: 'chat' as const,
      price: { input: 0, output: 0 },
      maxOutputTokens: 10,
      targets: [{ provider: name, model: 'm' }],
    })),
    environment: { MODELPORT_LOG_LEVEL: 'error' },
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.closeAllConnections();
  upstream.close();
});

test.each([
  ['json', true, 66],
  ['json', false, 66],
  ['comments', true, 4],
  ['event', true, 66],
  // Compressed it is a few MiB, which the sockets accept completely.
  ['gzip-comments', true, 400],
  ['gzip-json', true, 64],
  ['gzip-json', false, 64],
] as const)(
  '%s, streamed %p: 502 after at most %p MiB',
  async (model, stream, mostMib) => {
    sentBytes = 0;
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.apiKey}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({ model, stream, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
      });
      const body = (await response.json()) as { error: { code?: string; type: string } };
      expect(response.status).toBe(502);
      expect(body).toMatchObject({
        error: path === '/v1/messages' ? { type: 'api_error' } : { code: 'upstream_failed' },
      });
      // What was sent but not read is in the sockets' buffers.
      expect(sentBytes).toBeLessThan((mostMib + 32) * MIB);
    }
  },
  60_000,
);
