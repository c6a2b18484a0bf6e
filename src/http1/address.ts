/** Where a request goes, out of its URL. */

export interface Address {
  /** What connections are kept by: scheme, host and port. */
  origin: string;
  hostname: string;
  port: number;
  /** The name a certificate must bear; absent where the connection is open. */
  serverName?: string;
  /** The header `host`. */
  host: string;
  /** Path and query as they go into the request line. */
  target: string;
}

/** Most requests go to few URLs: reading one costs more than the rest of its head. */
const MOST_KNOWN = 1000;
const known = new Map<string, Address>();

/** Throws TypeError where the URL is none, or none that is reached over HTTP. */
export function addressOf(url: string): Address {
  let address = known.get(url);
  if (!address) {
    if (known.size >= MOST_KNOWN) known.clear();
    address = readAddress(new URL(url));
    known.set(url, address);
  }
  return address;
}

function readAddress(url: URL): Address {
  const isSecure = url.protocol === 'https:';
  if (!isSecure && url.protocol !== 'http:') throw new TypeError(`${url.protocol} is no way to reach an upstream`);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const address: Address = {
    origin: url.origin,
    hostname,
    port: Number(url.port) || (isSecure ? 443 : 80),
    host: url.host,
    target: url.pathname + url.search,
  };
  if (isSecure) address.serverName = hostname;
  return address;
}
