/** Splits a URL into what connections and requests need. */

export interface Address {
  /** The key of connections: scheme, host and port. */
  origin: string;
  hostname: string;
  port: number;
  /** The name that the certificate must have. Absent for plain HTTP. */
  serverName?: string;
  /** The `host` header. */
  host: string;
  /** Path and query as written in the request line. */
  target: string;
}

/** Most requests go to few URLs, and parsing a URL costs more than the rest of the request head. */
const MOST_KNOWN = 1000;
const known = new Map<string, Address>();

/** Throws TypeError if the text is not an HTTP URL. */
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
  if (!isSecure && url.protocol !== 'http:') throw new TypeError(`${url.protocol} cannot be used to reach an upstream`);
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
