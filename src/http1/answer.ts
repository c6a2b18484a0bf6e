/** What a client is answered, and how its head is written. */

export interface Answer {
  status: number;
  /** Names are lower-case; a `content-length` is needed only where a source knows it. */
  headers: { [name: string]: string };
  body: Uint8Array | string | ByteSource | undefined;
}

/** Bytes brought as the client takes them. */
export interface ByteSource {
  /** Called once: from now on it may write. */
  start(sink: ByteSink): void;
  /** The client has taken what it had not taken at once. */
  resume(): void;
  /** The client has left, or is sent no body; then it may never have been started. */
  cancel(): void;
}

/** Where a source writes, whenever it likes. */
export interface ByteSink {
  /** Whether the client has taken it; where not, the source is resumed once it has. */
  write(bytes: Uint8Array): boolean;
  /** The answer is complete with these bytes. */
  end(bytes?: Uint8Array): void;
  /** Breaks the answer off, so that it cannot be taken for a complete one. `cause`: where it is a failure of our own. */
  fail(cause?: unknown): void;
}

/** How the client learns where the body ends. */
export type BodyEnd = number | 'chunked' | 'close' | 'none';

const REASONS: { readonly [status: number]: string } = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** Printable, or beyond ASCII but one byte: what is not could end the header and begin another. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A header of an answer holds what would end it and begin another. */
export class UnsayableHeader extends Error {}

/** What a client is told of its connection: HTTP/1.1 keeps it unless something is said, HTTP/1.0 where it is. */
export type Persistence = 'default' | 'keep-alive' | 'close';

/** Throws UnsayableHeader. */
export function writeAnswerHead(
  { status, headers }: Answer,
  end: BodyEnd,
  persistence: Persistence,
  now: number,
): string {
  let head = `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\n`;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (name === 'content-length') continue;
    if (!VALUE.test(value)) throw new UnsayableHeader(`the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  if (typeof end === 'number') head += `content-length: ${end}\r\n`;
  else if (end === 'chunked') head += 'transfer-encoding: chunked\r\n';
  if (persistence !== 'default') head += `connection: ${persistence}\r\n`;
  return `${head}date: ${dateOf(now)}\r\n\r\n`;
}

let dateSecond = 0;
let date = '';

/** Written once a second. */
function dateOf(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(now).toUTCString();
  }
  return date;
}
