/** Which network addresses are public: only these may be requested for a client. Pure functions. */
import type { BlockList } from 'node:net';

// IANA's special-purpose registries: this network, private, shared (CGNAT), loopback, link-local with metadata services, protocol
// assignments, documentation, benchmarking, multicast, reserved, broadcast.
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Exceptions within `2000::/3`, outside of which nothing is public: Teredo and other protocol assignments, documentation. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20'];
/** IPv6 ranges that contain an IPv4 address, and the index of the 16-bit group where it begins. */
const CARRIERS = [
  { prefix: '::ffff:0:0/96', at: 6 },
  { prefix: '64:ff9b::/96', at: 6 },
  { prefix: '2002::/16', at: 1 },
] as const;

/** Loaded when the first address is checked: loading it takes 5 ms of the start. */
const net = () => process.getBuiltinModule('node:net');

let lists: ReturnType<typeof makeLists> | undefined;

function makeLists() {
  return {
    specialV4: listOf(SPECIAL_V4),
    specialV6: listOf(SPECIAL_V6),
    globalV6: listOf(['2000::/3']),
    carriers: CARRIERS.map(({ prefix, at }) => ({ list: listOf([prefix]), at })),
  };
}

/** Whether the address is public. Text that is not an address is not public. */
export function isPublicAddress(address: string): boolean {
  const { isIPv4, isIPv6 } = net();
  lists ??= makeLists();
  const { specialV4, specialV6, globalV6, carriers } = lists;
  if (isIPv4(address)) return !specialV4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  for (const { list, at } of carriers) if (list.check(address, 'ipv6')) return isPublicAddress(carriedV4(address, at));
  return globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new (net().BlockList)();
  for (const range of ranges) {
    const [network = '', length] = range.split('/');
    list.addSubnet(network, Number(length), network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** The IPv4 address at this group of an IPv6 address. */
function carriedV4(address: string, at: number): string {
  const groups = groupsOf(address);
  const bits = ((groups[at] ?? 0) << 16) | (groups[at + 1] ?? 0);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}

/** The eight groups of a valid IPv6 address. The URL parser normalizes a dotted tail. */
function groupsOf(address: string): number[] {
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [front = '', back] = plain.split('::');
  const read = (side: string) => (side === '' ? [] : side.split(':').map((group) => Number.parseInt(group, 16)));
  const [before, after] = [read(front), read(back ?? '')];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}
