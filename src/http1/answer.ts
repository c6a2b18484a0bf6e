/** The type of a response, and how its head is written. */
import { UNSAYABLE } from './header-lines.ts';

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
  303: 'See Other',
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
  let head = status === 200 ? OK : `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\n`;
  for (const name in headers) {
    if (name === 'content-length') continue;
    const value = headers[name] ?? '';
    if (UNSAYABLE.test(value)) throw new UnsayableHeader(`the header ${name} cannot be sent`);
    head += `${name}: ${value}\r\n`;
  }
  if (typeof end === 'number') head += `content-length: ${end}\r\n`;
  else if (end === 'chunked') head += 'transfer-encoding: chunked\r\n';
  if (persistence !== 'default') head += `connection: ${persistence}\r\n`;
  return head + dateLine(now);
}

const OK = 'HTTP/1.1 200 OK\r\n';
let second = 0;
let line = '';

/** The last header and the end of the head; formatted at most once a second. */
function dateLine(now: number): string {
  if (now >= second && now < second + 1000) return line;
  second = now - (now % 1000);
  line = `date: ${new Date(now).toUTCString()}\r\n\r\n`;
  return line;
}
