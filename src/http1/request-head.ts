/** Writes the head of an HTTP/1.1 request. */
import type { Address } from './address.ts';

/** Bytes that are brought piece by piece. */
export interface Streamed {
  readonly size: number;
  /** All of them; as often as it is asked for. A piece holds until the next is asked for. */
  open(): AsyncIterable<Uint8Array>;
}

/** What a head is written from; header names are lower-case. */
interface Outgoing {
  method: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
  stream?: Streamed;
}

/** What says where a message goes and where it ends is said by this module alone. */
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
/** Printable, or beyond ASCII but one byte: what is not could end the header and begin another. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws TypeError where a header cannot be said. */
export function writeHead(address: Address, { method, headers, body, stream }: Outgoing): string {
  let head = `${method} ${address.target} HTTP/1.1\r\nhost: ${address.host}\r\n`;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (OWN.has(name)) continue;
    if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError(`the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  if (headers.accept === undefined) head += 'accept: */*\r\n';
  // Text as events arrive: unpacking costs more than what packing spares.
  if (headers['accept-encoding'] === undefined) head += 'accept-encoding: identity\r\n';
  if (body || method !== 'GET') head += `content-length: ${stream?.size ?? body?.length ?? 0}\r\n`;
  return `${head}\r\n`;
}
