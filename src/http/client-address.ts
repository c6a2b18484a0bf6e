/** From where a call came: the peer's address, or what a trusted proxy says of it. */
import { isIP } from 'node:net';
import { createRanges, type Range, readRange } from '../access/cidr.ts';
import type { ClientRequest } from '../http1/client-request.ts';

export type AddressOf = (request: Pick<ClientRequest, 'address' | 'headers'>) => string;

/** Takes the settings' trusted proxies; throws a sentence where one is neither an address nor a CIDR range. */
export function createAddressReader(trustedProxies: readonly string[]): AddressOf {
  const trusted = createRanges(trustedProxies.map(rangeOf));
  return (request) => {
    const peer = request.address;
    if (trustedProxies.length === 0 || !trusted.has(peer)) return peer;
    // Every proxy appends the peer it saw: the last one that is no proxy of ours is the client, all before it is hearsay.
    const hops = (request.headers.get('x-forwarded-for') ?? '').split(',');
    let client = peer;
    for (const written of hops.reverse()) {
      const hop = written.trim();
      if (isIP(hop) === 0) break;
      client = hop;
      if (!trusted.has(hop)) break;
    }
    return client;
  };
}

function rangeOf(text: string): Range {
  const range = readRange(text);
  if (range) return range;
  throw new Error(`"${text}" is no trusted proxy: write an address or a CIDR range, such as 10.0.0.0/8.`);
}
