/** Address ranges (CIDR) of IPv4 and IPv6. Pure. An IPv4 address in IPv6 clothing (`::ffff:10.0.0.1`) is an IPv4 address. */

interface Address {
  family: 4 | 6;
  bits: bigint;
}

export interface Range {
  family: 4 | 6;
  /** The leading bits that all addresses of the range share. */
  prefix: bigint;
  /** How many bits follow them. */
  free: bigint;
}

const BITS = { 4: 32, 6: 128 } as const;
/** The 96 leading bits of an IPv4 address written as IPv6. */
const MAPPED = 0xffffn;

/** "10.0.0.0/8", "2001:db8::/32", or a single address; `undefined` where the text is no range. */
export function readRange(text: string): Range | undefined {
  const slash = text.indexOf('/');
  const length = slash < 0 ? undefined : text.slice(slash + 1);
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined;
  const base = slash < 0 ? text : text.slice(0, slash);
  const address = readAddress(base);
  if (!address) return undefined;
  const { family, bits } = address;
  let wide = length === undefined ? BITS[family] : Number(length);
  // `::ffff:10.0.0.0/104` counts the 96 bits in front as well.
  if (length !== undefined && family === 4 && base.includes(':')) wide -= 96;
  if (wide < 0 || wide > BITS[family]) return undefined;
  const free = BigInt(BITS[family] - wide);
  return { family, prefix: bits >> free, free };
}

/** Whether the address stands in one of the ranges; an unreadable address stands in none. */
export function inRanges(address: string, ranges: readonly Range[]): boolean {
  const read = readAddress(address);
  if (!read) return false;
  return ranges.some(({ family, prefix, free }) => family === read.family && read.bits >> free === prefix);
}

function readAddress(text: string): Address | undefined {
  if (!text.includes(':')) {
    const bits = readV4(text);
    return bits === undefined ? undefined : { family: 4, bits };
  }
  // A zone (`fe80::1%eth0`) names an interface, not an address.
  const zone = text.indexOf('%');
  const bits = readV6(zone < 0 ? text : text.slice(0, zone));
  if (bits === undefined) return undefined;
  return bits >> 32n === MAPPED ? { family: 4, bits: bits & 0xffff_ffffn } : { family: 6, bits };
}

function readV4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    // No leading zeros: some readers take them for octal numbers, and a range must mean one thing.
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return bits;
}

function readV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const front = readGroups(halves[0] ?? '', halves.length === 1);
  const back = readGroups(halves[1] ?? '', true);
  if (!front || !back) return undefined;
  const missing = 8 - front.length - back.length;
  // `::` stands for at least one group, its absence for none.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  let bits = 0n;
  for (const group of [...front, ...new Array<bigint>(missing).fill(0n), ...back]) bits = (bits << 16n) | group;
  return bits;
}

/** The 16-bit groups of one side of a `::`; where the address ends here, its last 32 bits may be an IPv4 address. */
function readGroups(text: string, last: boolean): bigint[] | undefined {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (last && i === parts.length - 1 && part.includes('.')) {
      const bits = readV4(part);
      if (bits === undefined) return undefined;
      groups.push(bits >> 16n, bits & 0xffffn);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}
