import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { arrivedRequest } from '../../test/helpers/arrived-request.ts';
import { UNCOUNTED } from '../access/work-bounds.ts';
import { createJsonBodies } from './bodies/json-bodies.ts';
import { type IncomingOptions, IncomingRequest } from './incoming.ts';

const TARGET = '/v1beta/models/team%2Fbeta:generateContent';
let calls = 0;
const options: IncomingOptions = {
  carriers: { google: true },
  maxBodyBytes: 1000,
  bodies: createJsonBodies({ depth: 100, values: 1000, members: 1000, membersOfOne: 1000 }),
  now: Date.now,
  addressOf: ({ address }) => {
    calls++;
    return address;
  },
};

function post(query: string, headers: { [name: string]: string }, body: string | Uint8Array = '{}') {
  return arrivedRequest({ target: `${TARGET}${query}`, headers, body, address: '203.0.113.9' });
}

test('a request has its caller, address and id', () => {
  const first = new IncomingRequest(post('', { authorization: 'Bearer sk-a' }), {}, options);
  expect(first.key).toBe('sk-a');
  expect(calls).toBe(0);
  expect(first.address).toBe('203.0.113.9');
  expect(first.requestId).toMatch(/^req_[0-9A-Za-z]{24}$/);
  const second = new IncomingRequest(post('?key=sk-b', {}), {}, options);
  expect(second.key).toBe('sk-b');
  expect(second.requestId).not.toBe(first.requestId);
});

test('the body is read on demand, and path, query and headers are available', async () => {
  const body = gzipSync('{"contents":[]}');
  const request = post('?alt=sse', { 'content-encoding': 'gzip', 'X-Modelport-Strict': 'true' }, body);
  const incoming = new IncomingRequest(request, { model: 'team/beta' }, options);
  expect(request.body.isRead).toBe(false);
  const read = await incoming.read(UNCOUNTED);
  expect(new TextDecoder().decode(read.body)).toBe('{"contents":[]}');
  expect(read.path).toEqual({ model: 'team/beta' });
  expect(read.query.get('alt')).toBe('sse');
  expect(read.headers.get('x-modelport-strict')).toBe('true');
});

test('a body above the maximum size is refused when it is read', async () => {
  const incoming = new IncomingRequest(post('', {}, 'x'.repeat(1001)), {}, options);
  expect(() => incoming.read(UNCOUNTED)).toThrow(expect.objectContaining({ code: 'request_too_large' }));
});

test('the request itself is the client connection that the gateway watches', () => {
  const request = post('', {});
  const { client } = new IncomingRequest(request, {}, options);
  let left = 0;
  client.onLeave = () => left++;
  request.leave();
  expect(client.hasLeft).toBe(true);
  expect(left).toBe(1);
});
