/** Address ranges (CIDR) of IPv4 and IPv6. An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) is an IPv4 address. */
import { BlockList, isIP, isIPv4 } from 'node:net';

/** "10.0.0.0/8", "2001:db8::/32", or a single address, read. */
export interface Range {
  network: string;
  /** How many leading bits all addresses of the range share. */
  length: number;
  /** As it was written. */
  type: 'ipv4' | 'ipv6';
  /** Whether its addresses are IPv4 ones, however they are written. */
  isV4: boolean;
}

export interface Ranges {
  /** Whether the address is in one of them; what is no address is in none. */
  has(address: string): boolean;
}

const MAPPED_BITS = 96;
const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', MAPPED_BITS, 'ipv6');

/** `undefined` where the text is no range. */
export function readRange(text: string): Range | undefined {
  const [network = '', length, more] = text.split('/');
  if (more !== undefined || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const family = isIP(network);
  if (family === 0) return undefined;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const isMapped = family === 6 && mapped.check(network, 'ipv6');
  const most = family === 4 ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  // A shorter one would hold IPv4 and IPv6 addresses.
  if (bits > most || (isMapped && bits < MAPPED_BITS)) return undefined;
  return { network, length: bits, type, isV4: family === 4 || isMapped };
}

export function createRanges(ranges: readonly Range[]): Ranges {
  // A `BlockList` finds an IPv4 address in `::/0` too: each family has one of its own.
  const [v4, v6] = [new BlockList(), new BlockList()];
  for (const { network, length, type, isV4 } of ranges) (isV4 ? v4 : v6).addSubnet(network, length, type);
  return {
    has(address) {
      if (isIPv4(address)) return v4.check(address, 'ipv4');
      if (isIP(address) !== 6) return false;
      return mapped.check(address, 'ipv6') ? v4.check(address, 'ipv6') : v6.check(address, 'ipv6');
    },
  };
}
