import { expect, test } from 'bun:test';
import { createRanges, readRange } from './cidr.ts';

function within(address: string, ...ranges: string[]): boolean {
  const read = ranges.map((text) => {
    const range = readRange(text);
    if (!range) throw new Error(`${text} is no range`);
    return range;
  });
  return createRanges(read).has(address);
}

test.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.0.0.0', '10.0.0.0/8', false],
  ['10.1.2.3', '10.9.9.9/8', true],
  ['192.168.1.255', '192.168.1.0/24', true],
  ['192.168.2.0', '192.168.1.0/24', false],
  ['172.16.0.129', '172.16.0.128/25', true],
  ['172.16.0.127', '172.16.0.128/25', false],
  ['1.2.3.4', '1.2.3.4', true],
  ['1.2.3.5', '1.2.3.4', false],
  ['255.255.255.255', '0.0.0.0/0', true],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:DB8:ffff::', '2001:db8::/32', true],
  ['2001:db9::', '2001:db8::/32', false],
  ['::1', '::1', true],
  ['0:0:0:0:0:0:0:1', '::1/128', true],
  ['fe80::1%eth0', 'fe80::/10', true],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::/112', true],
  ['::ffff:10.0.0.1', '10.0.0.0/8', true],
  ['::ffff:a00:1', '10.0.0.0/8', true],
  ['10.0.0.1', '::ffff:10.0.0.0/104', true],
  ['11.0.0.1', '::ffff:10.0.0.0/104', false],
  ['10.0.0.1', '::/0', false],
  ['::ffff:10.0.0.1', '::/0', false],
  ['fe80::1%eth0', 'fe80::1%eth0', true],
  ['fe80::1', 'fe80::2%eth0/64', true],
  ['10.0.0.1', '::ffff:0:0/96', true],
  ['::1', '0.0.0.0/0', false],
  ['not an address', '0.0.0.0/0', false],
  ['', '0.0.0.0/0', false],
])('%s in %s: %p', (address, range, expected) => {
  expect(within(address, range)).toBe(expected);
});

test('an address in one of several ranges is allowed, and an empty list allows none', () => {
  expect(within('::1', '10.0.0.0/8', '::1')).toBe(true);
  expect(within('10.0.0.1')).toBe(false);
});

test.each([
  '',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0/8',
  '10.0.0.256',
  '010.0.0.1',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '::/129',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7::8',
  '12345::',
  'g::',
  '::1.2.3',
  '::ffff:10.0.0.0/95',
  'localhost',
  '1.2.3.4::',
  ' 10.0.0.1',
])('%j is not a range', (text) => {
  expect(readRange(text)).toBeUndefined();
});
