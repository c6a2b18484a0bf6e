import { expect, test } from 'bun:test';
import { arrivedRequest } from '../../test/helpers/arrived-request.ts';
import { type Carriers, clientKey } from './client-key.ts';

const ALL: Carriers = { anthropic: true, google: true };

function keyIn(headers: { [name: string]: string }, carriers: Carriers = ALL, query = ''): string | undefined {
  return clientKey(arrivedRequest({ target: `/v1/models${query}`, headers }), carriers);
}

test('a bearer token is found in any letter case and spacing', () => {
  for (const authorization of ['Bearer sk-abc', 'bearer sk-abc', 'BEARER   sk-abc', 'Bearer sk-abc ']) {
    expect(keyIn({ authorization }, {})).toBe('sk-abc');
  }
  expect(keyIn({ authorization: 'Basic sk-abc' }, {})).toBeUndefined();
  expect(keyIn({ authorization: 'Bearer' }, {})).toBeUndefined();
  expect(keyIn({ authorization: 'Bearer sk-abc def' }, {})).toBeUndefined();
});

test('each API format has its own place for the key', () => {
  expect(keyIn({ 'x-api-key': 'sk-a' })).toBe('sk-a');
  expect(keyIn({ 'x-goog-api-key': 'sk-a' })).toBe('sk-a');
  expect(keyIn({ 'x-vendor2-api-key': 'sk-a' })).toBe('sk-a');
  expect(keyIn({}, ALL, '?a=1&key=sk-a')).toBe('sk-a');
  expect(keyIn({}, ALL, '?key=')).toBeUndefined();
});

test('places that the route does not read are ignored', () => {
  expect(keyIn({ 'x-api-key': 'sk-a', 'x-goog-api-key': 'sk-b' }, {}, '?key=sk-c')).toBeUndefined();
  expect(keyIn({ 'x-api-key': 'sk-a', 'x-goog-api-key': 'sk-b' }, { google: true })).toBe('sk-b');
});

test('a bearer token has precedence; an empty one is ignored', () => {
  expect(keyIn({ authorization: 'Bearer sk-a', 'x-api-key': 'sk-b' })).toBe('sk-a');
  expect(keyIn({ authorization: 'Bearer ', 'x-api-key': 'sk-b' })).toBe('sk-b');
});
