import { expect, test } from 'bun:test';
import { arrivedRequest } from '../../test/arrived-request.ts';
import { createAddressReader } from './client-address.ts';

function addressOf(trusted: string[], peer: string, forwarded?: string): string {
  const headers: { [name: string]: string } = forwarded ? { 'x-forwarded-for': forwarded } : {};
  return createAddressReader(trusted)(arrivedRequest({ headers, address: peer }));
}

test('without trusted proxies the peer is the client, whatever it says', () => {
  expect(addressOf([], '203.0.113.9', '10.0.0.1')).toBe('203.0.113.9');
});

test('only a trusted proxy is believed', () => {
  expect(addressOf(['10.0.0.0/8'], '203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7', '198.51.100.1')).toBe('198.51.100.1');
  expect(addressOf(['10.0.0.0/8'], '::ffff:10.0.0.7', '198.51.100.1')).toBe('198.51.100.1');
});

test('what the client itself wrote in front is hearsay', () => {
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7', '1.1.1.1, 198.51.100.1, 10.0.0.8')).toBe('198.51.100.1');
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7', 'unknown, 10.0.0.8')).toBe('10.0.0.8');
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7')).toBe('10.0.0.7');
});

test('a range that is none is a sentence', () => {
  for (const range of ['10.0.0.0/33', 'proxy', '10.0.0.0/']) {
    expect(() => createAddressReader([range])).toThrow('is no trusted proxy');
  }
});
