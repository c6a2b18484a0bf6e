import { expect, test } from 'bun:test';
import { arrivedRequest } from '../../test/helpers/arrived-request.ts';
import { createAddressReader } from './client-address.ts';

function addressOf(trusted: string[], peer: string, forwarded?: string): string {
  const headers: { [name: string]: string } = forwarded ? { 'x-forwarded-for': forwarded } : {};
  return createAddressReader(trusted)(arrivedRequest({ headers, address: peer }));
}

test("without trusted proxies the peer's address is used, whatever the headers say", () => {
  expect(addressOf([], '203.0.113.9', '10.0.0.1')).toBe('203.0.113.9');
});

test('x-forwarded-for is used only if the peer is a trusted proxy', () => {
  expect(addressOf(['10.0.0.0/8'], '203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7', '198.51.100.1')).toBe('198.51.100.1');
  expect(addressOf(['10.0.0.0/8'], '::ffff:10.0.0.7', '198.51.100.1')).toBe('198.51.100.1');
});

test('entries of x-forwarded-for that the client sent itself are ignored', () => {
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7', '1.1.1.1, 198.51.100.1, 10.0.0.8')).toBe('198.51.100.1');
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7', 'unknown, 10.0.0.8')).toBe('10.0.0.8');
  expect(addressOf(['10.0.0.0/8'], '10.0.0.7')).toBe('10.0.0.7');
});

test('an invalid range is refused', () => {
  for (const range of ['10.0.0.0/33', 'proxy', '10.0.0.0/']) {
    expect(() => createAddressReader([range])).toThrow('is not a valid trusted proxy');
  }
});
