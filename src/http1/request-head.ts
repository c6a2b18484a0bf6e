/** Writes the head of an HTTP/1.1 request, and splits a URL into what connections and requests need. */
import { messageHead } from './bytes.ts';

/** Bytes that are read in pieces. */
export interface StreamedBody {
  readonly size: number;
  /** All bytes. Can be called repeatedly. A piece is valid until the next one is requested. */
  open(): AsyncIterable<Uint8Array>;
}

/** What a request is; header names are lower-case. */
export interface RequestHead {
  address: Address;
  method: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  /** Sent instead of `body`. */
  stream?: StreamedBody | undefined;
}

/** Headers about the host and the length are written only by this module. */
const OWN = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Writes `messageHead`. Throws TypeError if a header has invalid characters, and LongHead. */
export function writeHead({ address, method, headers, body, stream }: RequestHead): void {
  messageHead.begin();
  messageHead.add(method);
  messageHead.add(' ');
  messageHead.add(address.target);
  messageHead.add(' HTTP/1.1\r\nhost: ');
  messageHead.add(address.host);
  messageHead.add('\r\n');
  for (const name in headers) {
    const start = startOf(name);
    if (start === '') continue;
    messageHead.add(start);
    if (!messageHead.addValue(headers[name] ?? '')) throw unsayable(name);
    messageHead.add('\r\n');
  }
  if (headers.accept === undefined) messageHead.add('accept: */*\r\n');
  // Uncompressed, so that events can be used as they arrive: decompressing costs more than the smaller size saves.
  if (headers['accept-encoding'] === undefined) messageHead.add('accept-encoding: identity\r\n');
  if (body || method !== 'GET') {
    messageHead.add('content-length: ');
    messageHead.add(String(stream?.size ?? body?.length ?? 0));
    messageHead.add('\r\n');
  }
  messageHead.add('\r\n');
}

const starts = new Map<string, string>();
// Names come from the code and the configuration, so there are few. The limit is for callers that generate names.
const MOST_STARTS = 1000;

/** The text before the value of this header, empty for those of this module. Kept, because checking a name costs more than a look-up. */
function startOf(name: string): string {
  let start = starts.get(name);
  if (start !== undefined) return start;
  if (!NAME.test(name)) throw unsayable(name);
  start = OWN.has(name) ? '' : `${name}: `;
  if (starts.size < MOST_STARTS) starts.set(name, start);
  return start;
}

function unsayable(name: string): TypeError {
  return new TypeError(`the header ${name} cannot be sent`);
}

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
