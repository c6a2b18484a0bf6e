/** Address ranges (CIDR) of IPv4 and IPv6. An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) is an IPv4 address. */
import type { BlockList } from 'node:net';

/** A parsed range such as "10.0.0.0/8", "2001:db8::/32" or a single address. */
export interface AddressRange {
  network: string;
  /** The prefix length in bits. */
  length: number;
  /** The family in which the range was written. */
  type: 'ipv4' | 'ipv6';
  /** Whether it holds IPv4 addresses, also if it was written in IPv6. */
  isV4: boolean;
}

export interface Ranges {
  /** Whether one of the ranges contains the address. `false` for text that is not an address. */
  has(address: string): boolean;
}

const MAPPED_BITS = 96;

/** Loaded when the first range is read: loading it takes 5 ms of the start, and few gateways have ranges. */
const net = () => process.getBuiltinModule('node:net');

let mappedAddresses: BlockList | undefined;

function mapped(): BlockList {
  if (!mappedAddresses) {
    mappedAddresses = new (net().BlockList)();
    mappedAddresses.addSubnet('::ffff:0:0', MAPPED_BITS, 'ipv6');
  }
  return mappedAddresses;
}

/** Whether the text is an IPv4 or IPv6 address. */
export function isAddress(text: string): boolean {
  return net().isIP(text) !== 0;
}

/** Parses a range, or returns `undefined` if the text is not one. */
export function readRange(text: string): AddressRange | undefined {
  const [network = '', length, more] = text.split('/');
  if (more !== undefined || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const family = net().isIP(network);
  if (family === 0) return undefined;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const isMapped = family === 6 && mapped().check(network, 'ipv6');
  const most = family === 4 ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  // A shorter prefix would cover both IPv4 and IPv6 addresses.
  if (bits > most || (isMapped && bits < MAPPED_BITS)) return undefined;
  return { network, length: bits, type, isV4: family === 4 || isMapped };
}

const NO_RANGES: Ranges = { has: () => false };

export function createRanges(ranges: readonly AddressRange[]): Ranges {
  // A `BlockList` finds an IPv4 address in `::/0` too, so each family has its own list.
  if (ranges.length === 0) return NO_RANGES;
  const { BlockList, isIP, isIPv4 } = net();
  const [v4, v6] = [new BlockList(), new BlockList()];
  for (const { network, length, type, isV4 } of ranges) (isV4 ? v4 : v6).addSubnet(network, length, type);
  return {
    has(address) {
      if (isIPv4(address)) return v4.check(address, 'ipv4');
      if (isIP(address) !== 6) return false;
      return mapped().check(address, 'ipv6') ? v4.check(address, 'ipv6') : v6.check(address, 'ipv6');
    },
  };
}
