/** The client's address: the peer's address, or the one that a trusted proxy reports. */
import { type AddressRange, createRanges, isAddress, readRange } from '../access/cidr.ts';
import type { ClientRequest } from '../http1/client-request.ts';

export type AddressOf = (request: Pick<ClientRequest, 'address' | 'headers'>) => string;

/** `trustedProxies`: addresses or CIDR ranges. Throws an Error for an invalid one. */
export function createAddressReader(trustedProxies: readonly string[]): AddressOf {
  if (trustedProxies.length === 0) return (request) => request.address;
  const trusted = createRanges(trustedProxies.map(rangeOf));
  return (request) => {
    const peer = request.address;
    if (!trusted.has(peer)) return peer;
    // Each proxy appends the address of its peer. So the last entry that is not a trusted proxy is the client; earlier entries can be
    // forged.
    const hops = (request.headers.get('x-forwarded-for') ?? '').split(',');
    let client = peer;
    for (const written of hops.reverse()) {
      const hop = written.trim();
      if (!isAddress(hop)) break;
      client = hop;
      if (!trusted.has(hop)) break;
    }
    return client;
  };
}

function rangeOf(text: string): AddressRange {
  const range = readRange(text);
  if (range) return range;
  throw new Error(`"${text}" is not a valid trusted proxy: write an address or a CIDR range, such as 10.0.0.0/8.`);
}
