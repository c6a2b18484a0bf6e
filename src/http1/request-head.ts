/** Writes the head of an HTTP/1.1 request. */
import type { Address } from './address.ts';

/** Bytes that are read in pieces. */
export interface Streamed {
  readonly size: number;
  /** All bytes. Can be called repeatedly. A piece is valid until the next one is requested. */
  open(): AsyncIterable<Uint8Array>;
}

/** The parts of a request head; header names are lower-case. */
interface Outgoing {
  method: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  stream?: Streamed;
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
/** Printable ASCII or one-byte characters: others could end the header and start another one. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws TypeError if a header has invalid characters. */
export function writeHead(address: Address, { method, headers, body, stream }: Outgoing): string {
  let head = `${method} ${address.target} HTTP/1.1\r\nhost: ${address.host}\r\n`;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (OWN.has(name)) continue;
    if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError(`the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  if (headers.accept === undefined) head += 'accept: */*\r\n';
  // Uncompressed, so that events can be used as they arrive: decompressing costs more than the smaller size saves.
  if (headers['accept-encoding'] === undefined) head += 'accept-encoding: identity\r\n';
  if (body || method !== 'GET') head += `content-length: ${stream?.size ?? body?.length ?? 0}\r\n`;
  return `${head}\r\n`;
}
