/** The type of a response, and how its head is written. */

export interface Answer {
  status: number;
  /** Names are lower-case. `content-length` is needed only if a source knows its length. */
  headers: { [name: string]: string };
  body: Uint8Array | string | ByteSource | undefined;
}

/** A streamed body. */
export interface ByteSource {
  /** Called once. From then on the source may write. */
  start(sink: ByteSink): void;
  /** The client has read everything that was unsent. */
  resume(): void;
  /** The client disconnected, or the response has no body. The source may not have been started. */
  cancel(): void;
}

/** Where a source writes, at any time. */
export interface ByteSink {
  /** Returns whether the client keeps up. If not, `resume` is called when it has. */
  write(bytes: Uint8Array): boolean;
  /** Completes the response with these bytes. */
  end(bytes?: Uint8Array): void;
  /** Ends the response visibly incomplete. `cause`: set if the gateway itself failed. */
  fail(cause?: unknown): void;
}

/** How the client recognises the end of the body. */
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

/** Printable ASCII or one-byte characters: others could end the header and start another one. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A response header contains characters that could start another header. */
export class UnsayableHeader extends Error {}

/** The `connection` header to send: HTTP/1.1 stays open by default, HTTP/1.0 closes by default. */
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

/** Formatted at most once a second. */
function dateOf(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(now).toUTCString();
  }
  return date;
}
