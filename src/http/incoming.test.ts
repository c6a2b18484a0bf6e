import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { type IncomingOptions, incomingOf } from './incoming.ts';

const ADDRESS = 'http://127.0.0.1:8080/v1beta/models/team%2Fbeta:generateContent';
const server = { requestIP: () => ({ address: '203.0.113.9' }) };
let asked = 0;
const options: IncomingOptions = {
  carriers: { google: true },
  maxBodyBytes: 1000,
  now: Date.now,
  addressOf: (request, peer) => {
    asked++;
    return peer.requestIP(request)?.address ?? '';
  },
};

function post(query: string, headers: { [name: string]: string }, body: Bun.BodyInit = '{}'): Request {
  return new Request(`${ADDRESS}${query}`, { method: 'POST', headers, body });
}

test('who calls, from where, and under which id', () => {
  const first = incomingOf(post('', { authorization: 'Bearer sk-a' }), server, {}, options);
  expect(first.presented.key).toBe('sk-a');
  expect(asked).toBe(0);
  expect(first.presented.address).toBe('203.0.113.9');
  expect(first.requestId).toMatch(/^req_[0-9A-Za-z]{24}$/);
  const second = incomingOf(post('?key=sk-b', {}), server, {}, options);
  expect(second.presented.key).toBe('sk-b');
  expect(second.requestId).not.toBe(first.requestId);
});

test('the body is read when it is asked for, with path, query and headers beside it', async () => {
  const body = gzipSync('{"contents":[]}');
  const request = post('?alt=sse', { 'content-encoding': 'gzip', 'X-Modelport-Strict': 'true' }, body);
  const incoming = incomingOf(request, server, { model: 'team/beta' }, options);
  expect(request.bodyUsed).toBe(false);
  const read = await incoming.read();
  expect(new TextDecoder().decode(read.body)).toBe('{"contents":[]}');
  expect(read.path).toEqual({ model: 'team/beta' });
  expect(read.query.get('alt')).toBe('sse');
  expect(read.headers.get('x-modelport-strict')).toBe('true');
});

test('a body beyond the bound is refused when it is read', async () => {
  const incoming = incomingOf(post('', {}, 'x'.repeat(1001)), server, {}, options);
  await expect(incoming.read()).rejects.toMatchObject({ code: 'request_too_large' });
});

test('the signal says that the client has left', () => {
  const leaving = new AbortController();
  const request = new Request(ADDRESS, { method: 'POST', body: '{}', signal: leaving.signal });
  const { signal } = incomingOf(request, server, {}, options);
  expect(signal.aborted).toBe(false);
  leaving.abort();
  expect(signal.aborted).toBe(true);
});
