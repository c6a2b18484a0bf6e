/** Intended differences from Node, by name. Every other difference that the fuzzer finds is a fault. */
import { METHODS } from 'node:http';
import type { Difference, ReadMessage } from './compare.ts';

export interface Allowed {
  name: string;
  /** The messages in which it may occur. */
  side: 'request' | 'reply' | 'both';
  kind: Difference['kind'];
  /** The error message of the side that refuses. */
  says: RegExp;
  /** A condition on the message as the other side parsed it, and on all bytes. Absent: none. */
  holds?(message: ReadMessage, bytes: string): boolean;
  reason: string;
}

const values = ({ headers }: ReadMessage, name: string): string[] =>
  headers.filter((_, place) => place % 2 === 1 && headers[place - 1]?.toLowerCase() === name);
const hasEncoding = (message: ReadMessage) => values(message, 'transfer-encoding').length > 0;
const repeatsLength = (message: ReadMessage) => {
  const lengths = values(message, 'content-length');
  return lengths.length > 1 || lengths.some((length) => length.includes(','));
};
const LENGTH_FAULT = /^HPE_(UNEXPECTED|INVALID)_CONTENT_LENGTH$|^HPE_INVALID_TRANSFER_ENCODING$/;

export const ALLOWED: readonly Allowed[] = [
  {
    name: 'target that is not a path',
    side: 'request',
    kind: 'we refuse',
    says: /neither a path nor a URL/,
    reason: 'Node passes on other schemes, and * for every method; turning them into a path would be a guess',
  },
  {
    name: 'host',
    side: 'request',
    kind: 'we refuse',
    says: /must have exactly one host header/,
    reason: 'Node accepts two hosts, and hosts that are neither a name nor an address',
  },
  {
    name: 'version',
    side: 'request',
    kind: 'we refuse',
    says: /request line is invalid/,
    reason: 'Node accepts HTTP/0.9 and HTTP/2.0 in a line of HTTP/1.1',
  },
  {
    name: 'transfer-encoding other than chunked',
    side: 'request',
    kind: 'we refuse',
    says: /transfer-encoding is not supported|both content-length and transfer-encoding/,
    holds: hasEncoding,
    reason: 'Node ignores an empty one, and accepts others before chunked, and chunks in HTTP/1.0',
  },
  {
    name: 'digits of a chunk size',
    side: 'request',
    kind: 'we refuse',
    says: /a chunk has no size/,
    reason: 'we accept 12 digits, Node any number of leading zeros',
  },
  {
    name: 'methods',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_INVALID_(METHOD|VERSION)$/,
    holds: ({ method }) => method !== undefined && (!METHODS.includes(method) || method === 'PRI'),
    reason: 'Node accepts a list of methods; we accept any word, and answer 404 or 405',
  },
  {
    name: 'target beyond ASCII',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_INVALID_URL$/,
    reason: 'some clients send a URL as it was typed: its bytes are escaped, and a fragment is dropped',
  },
  {
    name: 'CONNECT',
    side: 'request',
    kind: 'they refuse',
    says: /^waits for more$/,
    holds: ({ method }) => method === 'CONNECT',
    reason: 'Node makes a tunnel of it; for us it is a method like any other, without a route',
  },
  {
    name: 'upgrade',
    side: 'request',
    kind: 'they refuse',
    says: /^waits for more$/,
    holds: (_, bytes) => /^connection:.*upgrade/im.test(bytes),
    reason: 'Node parses no request after one that asks for another protocol; for us it is a header like any other',
  },
  {
    name: 'the same length twice',
    side: 'request',
    kind: 'they refuse',
    says: LENGTH_FAULT,
    holds: repeatsLength,
    reason: 'RFC 9110, section 8.6: it is one length',
  },
  {
    name: 'status line',
    side: 'reply',
    kind: 'we refuse',
    says: /status line is invalid/,
    reason: 'Node accepts other versions, and statuses below 100',
  },
  {
    name: 'transfer-encoding other than chunked',
    side: 'reply',
    kind: 'we refuse',
    says: /transfer-encoding is not supported/,
    holds: hasEncoding,
    reason: 'Node reads such a reply until the connection ends',
  },
  {
    name: 'another protocol',
    side: 'reply',
    kind: 'we refuse',
    says: /changes to a protocol/,
    reason: 'we have not asked for one',
  },
  {
    name: 'digits of a chunk size',
    side: 'reply',
    kind: 'we refuse',
    says: /a chunk has no size/,
    reason: 'we accept 12 digits, Node any number of leading zeros, as in a request',
  },
  {
    name: 'two lengths in a reply',
    side: 'reply',
    kind: 'they refuse',
    says: LENGTH_FAULT,
    holds: (message) =>
      repeatsLength(message) || (hasEncoding(message) && values(message, 'content-length').length > 0),
    reason: 'chunks count, or it is one length twice; after chunks beside a length the connection is not used again',
  },
  {
    name: 'spaces after a chunk size',
    side: 'both',
    kind: 'they refuse',
    says: /^HPE_INVALID_CHUNK_SIZE$/,
    reason: 'RFC 9112, section 7.1.1, allows them before an extension, and some servers pad sizes with them',
  },
  {
    name: 'tab after a length',
    side: 'both',
    kind: 'they refuse',
    says: /^HPE_INVALID_CONTENT_LENGTH$/,
    holds: (_, bytes) => /^content-length:[^\r\n]*\t/im.test(bytes),
    reason: 'RFC 9110, section 5.5: a tab is white space around a value',
  },
  {
    name: 'grammar of an extension',
    side: 'both',
    kind: 'they refuse',
    says: /^HPE_STRICT$/,
    holds: (message, bytes) => hasEncoding(message) && /^[0-9a-f]+[ \t]*;/im.test(bytes),
    reason: 'we check the characters of a chunk extension and not its names, which have no meaning here',
  },
  {
    name: 'length in a trailer',
    side: 'reply',
    kind: 'we refuse',
    says: /a trailer is invalid/,
    holds: (_, bytes) => /\r\n0+[^\r\n]*\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding|host):/i.test(bytes),
    reason: 'Node takes a length, transfer-encoding or host that comes too late to count',
  },
  {
    name: 'head with another line ending',
    side: 'reply',
    kind: 'we refuse',
    says: /^it broke off$/,
    holds: (_, bytes) => bytes.includes('\r\r'),
    reason: 'Node accepts CR CR LF after a status as the end of a head',
  },
  {
    name: 'tab after chunked',
    side: 'reply',
    kind: 'read differently',
    says: /^body: /,
    holds: (_, bytes) => /^transfer-encoding:[^\r\n]*\t/im.test(bytes),
    reason: 'RFC 9110, section 5.5: it is white space around the value; Node reads the reply as one without chunks',
  },
  {
    name: 'tab after chunked, open',
    side: 'reply',
    kind: 'they refuse',
    says: /^waits for more$/,
    holds: (_, bytes) => /^transfer-encoding:[^\r\n]*\t/im.test(bytes),
    reason: 'the same if the connection does not end: Node waits for that',
  },
  {
    name: 'digits of a length',
    side: 'both',
    kind: 'we refuse',
    says: /content-length is invalid/,
    holds: (message) => values(message, 'content-length').some((length) => length.length > 15),
    reason: 'we accept 15 digits, which a number holds exactly',
  },
  {
    name: 'interim reply of HTTP/1.0',
    side: 'reply',
    kind: 'they refuse',
    says: /^HPE_CLOSED_CONNECTION$/,
    holds: (_, bytes) => /HTTP\/1\.0 1\d\d/.test(bytes),
    reason: 'Node assumes that the connection ends after it; the reply itself is still to come',
  },
];

export function allowedFor(
  side: 'request' | 'reply',
  { kind, what, message }: Difference,
  bytes: string,
): Allowed | undefined {
  return ALLOWED.find(
    (one) =>
      (one.side === side || one.side === 'both') &&
      one.kind === kind &&
      one.says.test(what) &&
      (one.holds?.(message, bytes) ?? true),
  );
}
