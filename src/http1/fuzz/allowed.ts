/** Differences from Node that are on purpose, by name. Everything else that the fuzzer finds is a fault. */
import { METHODS } from 'node:http';
import type { Difference, ReadMessage } from './compare.ts';

export interface Allowed {
  name: string;
  side: 'request' | 'reply';
  kind: Difference['kind'];
  /** What the one that refuses says. */
  says: RegExp;
  /** Of the message as the other has read it, and of all bytes; absent: whatever they are. */
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
    name: 'target that is no path',
    side: 'request',
    kind: 'we refuse',
    says: /neither a path nor an address/,
    reason: 'Node hands on other schemes and * of every method; making them a path would be a guess',
  },
  {
    name: 'host',
    side: 'request',
    kind: 'we refuse',
    says: /needs one host header/,
    reason: 'Node takes two hosts, and hosts that are neither a name nor an address',
  },
  {
    name: 'version',
    side: 'request',
    kind: 'we refuse',
    says: /first line is none/,
    reason: 'Node reads HTTP/0.9 and HTTP/2.0 in a line of HTTP/1.1',
  },
  {
    name: 'transfer-encoding but chunked',
    side: 'request',
    kind: 'we refuse',
    says: /transfer-encoding is not known|beside a transfer-encoding/,
    holds: hasEncoding,
    reason: 'Node takes an empty one for none, others before chunked, and chunks in HTTP/1.0',
  },
  {
    name: 'digits of a chunk size',
    side: 'request',
    kind: 'we refuse',
    says: /a chunk has no size/,
    reason: 'we read 12 digits, Node as many as are zeros',
  },
  {
    name: 'methods',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_INVALID_(METHOD|VERSION)$/,
    holds: ({ method }) => method !== undefined && (!METHODS.includes(method) || method === 'PRI'),
    reason: 'Node knows a list of methods; we read any word, and answer 404 or 405',
  },
  {
    name: 'target beyond ASCII',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_INVALID_URL$/,
    reason: 'some clients send an address as it was typed: its bytes are escaped, and a fragment is left out',
  },
  {
    name: 'CONNECT',
    side: 'request',
    kind: 'they refuse',
    says: /^waits for more$/,
    holds: ({ method }) => method === 'CONNECT',
    reason: 'Node makes a tunnel of it; to us it is a method like any other, and no route has it',
  },
  {
    name: 'upgrade',
    side: 'request',
    kind: 'they refuse',
    says: /^waits for more$/,
    holds: (_, bytes) => /^connection:.*upgrade/im.test(bytes),
    reason: 'Node reads no request behind one that asks for another protocol; to us it is a header like any other',
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
    says: /status line is none/,
    reason: 'Node reads other versions, and statuses below 100',
  },
  {
    name: 'transfer-encoding but chunked',
    side: 'reply',
    kind: 'we refuse',
    says: /transfer-encoding is not known/,
    holds: hasEncoding,
    reason: 'Node reads such a reply until the connection ends',
  },
  {
    name: 'another protocol',
    side: 'reply',
    kind: 'we refuse',
    says: /changes to a protocol/,
    reason: 'nobody has asked for one',
  },
  {
    name: 'digits of a chunk size',
    side: 'reply',
    kind: 'we refuse',
    says: /a chunk has no size/,
    reason: 'we read 12 digits, Node as many as are zeros, as in a request',
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
    name: 'blanks behind a chunk size',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_INVALID_CHUNK_SIZE$/,
    reason: 'RFC 9112, section 7.1.1, has them before an extension, and some servers pad sizes with them',
  },
  {
    name: 'blanks behind a chunk size',
    side: 'reply',
    kind: 'they refuse',
    says: /^HPE_INVALID_CHUNK_SIZE$/,
    reason: 'RFC 9112, section 7.1.1, has them before an extension, and some servers pad sizes with them',
  },
  {
    name: 'tab behind a length',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_INVALID_CONTENT_LENGTH$/,
    holds: (_, bytes) => /^content-length:[^\r\n]*\t/im.test(bytes),
    reason: 'RFC 9110, section 5.5: a tab is a blank around a value like any other',
  },
  {
    name: 'grammar of an extension',
    side: 'request',
    kind: 'they refuse',
    says: /^HPE_STRICT$/,
    holds: (message, bytes) => hasEncoding(message) && /^[0-9a-f]+[ \t]*;/im.test(bytes),
    reason: 'we look at the characters of a chunk extension and not at its names: it means nothing to anybody here',
  },
  {
    name: 'tab behind a length',
    side: 'reply',
    kind: 'they refuse',
    says: /^HPE_INVALID_CONTENT_LENGTH$/,
    holds: (_, bytes) => /^content-length:[^\r\n]*\t/im.test(bytes),
    reason: 'RFC 9110, section 5.5: a tab is a blank around a value like any other',
  },
  {
    name: 'grammar of an extension',
    side: 'reply',
    kind: 'they refuse',
    says: /^HPE_STRICT$/,
    holds: (message, bytes) => hasEncoding(message) && /^[0-9a-f]+[ \t]*;/im.test(bytes),
    reason: 'we look at the characters of a chunk extension and not at its names: it means nothing to anybody here',
  },
  {
    name: 'head that ends otherwise',
    side: 'reply',
    kind: 'we refuse',
    says: /^it broke off$/,
    holds: (_, bytes) => bytes.includes('\r\r'),
    reason: 'Node takes CR CR LF behind a status for the end of a head',
  },
  {
    name: 'tab behind chunked',
    side: 'reply',
    kind: 'read differently',
    says: /^body: /,
    holds: (_, bytes) => /^transfer-encoding:[^\r\n]*\t/im.test(bytes),
    reason: 'RFC 9110, section 5.5: it is a blank around the value; Node takes the reply for one without chunks',
  },
  {
    name: 'tab behind chunked, open',
    side: 'reply',
    kind: 'they refuse',
    says: /^waits for more$/,
    holds: (_, bytes) => /^transfer-encoding:[^\r\n]*\t/im.test(bytes),
    reason: 'the same where the connection does not end: Node waits for that',
  },
  {
    name: 'digits of a length',
    side: 'reply',
    kind: 'we refuse',
    says: /content-length is none/,
    holds: (message) => values(message, 'content-length').some((length) => length.length > 15),
    reason: 'we read 15 digits, as many as a number holds exactly',
  },
  {
    name: 'interim reply of HTTP/1.0',
    side: 'reply',
    kind: 'they refuse',
    says: /^HPE_CLOSED_CONNECTION$/,
    holds: (_, bytes) => /HTTP\/1\.0 1\d\d/.test(bytes),
    reason: 'Node takes the connection for ended behind it; the reply itself is still to come',
  },
  {
    name: 'digits of a length',
    side: 'request',
    kind: 'we refuse',
    says: /content-length is none/,
    holds: (message) => values(message, 'content-length').some((length) => length.length > 15),
    reason: 'we read 15 digits, as many as a number holds exactly',
  },
];

export function allowedFor(
  side: Allowed['side'],
  { kind, what, message }: Difference,
  bytes: string,
): Allowed | undefined {
  return ALLOWED.find(
    (one) => one.side === side && one.kind === kind && one.says.test(what) && (one.holds?.(message, bytes) ?? true),
  );
}
