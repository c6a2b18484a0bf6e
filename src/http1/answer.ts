/** Responses, written to a connection one after another, as fast as the client reads. */

import type { Socket } from 'bun';
import { messageHead, sendTogether } from './bytes.ts';
import type { ClientRequest } from './client-request.ts';

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

/** Writes `messageHead`. Throws UnsayableHeader or LongHead. */
function writeAnswerHead({ status, headers }: Answer, end: BodyEnd, persistence: Persistence, now: number): void {
  messageHead.begin();
  messageHead.add(status === 200 ? OK : `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\n`);
  for (const name in headers) {
    if (name === 'content-length') continue;
    messageHead.add(name);
    messageHead.add(': ');
    if (!messageHead.addValue(headers[name] ?? '')) throw new UnsayableHeader(`the header ${name} cannot be sent`);
    messageHead.add(LINE_END);
  }
  if (typeof end === 'number') {
    messageHead.add('content-length: ');
    messageHead.add(String(end));
    messageHead.add(LINE_END);
  } else if (end === 'chunked') messageHead.add('transfer-encoding: chunked\r\n');
  if (persistence !== 'default') messageHead.add(`connection: ${persistence}\r\n`);
  messageHead.add(dateLine(now));
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

/** Callbacks for the end of a response. */
export interface Outcome {
  /** Everything was sent. */
  sent(): void;
  /** The response cannot be completed; the connection must be closed. `cause`: set if the gateway itself failed. */
  broken(cause: unknown): void;
  /** As `broken`, but first everything written is sent: the missing end shows the client that the response is incomplete. */
  cutOff(): void;
}

const LINE_END = '\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const sizeLines: string[] = new Array<string>(2048).fill('');
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const NOTHING = new Uint8Array();

export class AnswerWriter {
  private readonly socket: Socket<unknown>;
  private readonly outcome: Outcome;
  /** The current response: its head until something is sent, its source until everything is written. */
  private head = '';
  private source: ByteSource | undefined;
  private bodyEnd: BodyEnd = 'none';
  /** Remaining bytes of a body with content-length. */
  private left = 0;
  /** The response is completely written, but not sent yet. */
  private hasEnded = false;
  /** The response stops here, without the end that would make it complete. */
  private isCutOff = false;
  /** What the socket has not accepted yet. */
  private unsent: Uint8Array | undefined;
  /** When the client stopped reading, by `performance.now()`; Infinity if nothing is unsent. */
  unsentSinceMs = Number.POSITIVE_INFINITY;

  constructor(socket: Socket<unknown>, outcome: Outcome) {
    this.socket = socket;
    this.outcome = outcome;
  }

  /** Sends `100 Continue` to a client that waits for it. */
  askForBody(): void {
    this.send(CONTINUE, NOTHING, '');
  }

  /** Throws UnsayableHeader or LongHead; then nothing was sent. */
  begin(request: ClientRequest | undefined, answer: Answer, keep: boolean): void {
    const { body } = answer;
    const isEmpty = answer.status === 204 || answer.status === 304;
    const isBodiless = isEmpty || request?.method === 'HEAD';
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? NOTHING);
    const announced = answer.headers['content-length'];
    const length = bytes instanceof Uint8Array ? bytes.length : announced === undefined ? undefined : Number(announced);
    const unmeasured = request?.isOld === true ? 'close' : 'chunked';
    this.bodyEnd = isEmpty ? 'none' : (length ?? unmeasured);
    const kept = keep && this.bodyEnd !== 'close';
    const persistence = kept ? (request?.isOld === true ? 'keep-alive' : 'default') : 'close';
    writeAnswerHead(answer, this.bodyEnd, persistence, Date.now());
    if (bytes instanceof Uint8Array) this.finish(isBodiless ? NOTHING : bytes);
    else if (isBodiless) {
      this.finish(NOTHING);
      bytes.cancel();
    } else {
      this.head = messageHead.text();
      this.left = length ?? 0;
      this.source = bytes;
      bytes.start(new SourceSink(this, bytes));
    }
  }

  /** The socket accepts bytes again. */
  drained(): void {
    const { unsent } = this;
    if (!unsent) return;
    this.unsent = undefined;
    this.unsentSinceMs = Number.POSITIVE_INFINITY;
    this.send('', unsent, '');
    if (this.unsent) return;
    if (this.isCutOff) this.outcome.cutOff();
    else if (this.hasEnded) this.settle();
    else this.source?.resume();
  }

  /** The response is no longer needed. */
  cancel(): void {
    const { source } = this;
    this.source = undefined;
    this.hasEnded = false;
    source?.cancel();
  }

  /** Methods with `source` do nothing if that source's response has already ended. */
  write(source: ByteSource, bytes: Uint8Array): boolean {
    if (this.source !== source || !this.count(bytes)) return false;
    if (bytes.length > 0) this.sendPiece(bytes, '');
    return this.unsent === undefined;
  }

  end(source: ByteSource, bytes: Uint8Array): void {
    if (this.source !== source || !this.count(bytes)) return;
    if (typeof this.bodyEnd === 'number' && this.left > 0) {
      this.fail(source, undefined);
      return;
    }
    this.source = undefined;
    this.hasEnded = true;
    this.sendPiece(bytes, this.bodyEnd === 'chunked' ? LAST_CHUNK : '');
    this.settle();
  }

  fail(source: ByteSource, cause: unknown): void {
    if (this.source !== source) return;
    this.source = undefined;
    // If the close of the connection is the end of the body, only a reset shows that the body is incomplete. A reset drops unread data.
    if (cause !== undefined || this.bodyEnd === 'close') this.outcome.broken(cause);
    else if (this.unsent) this.isCutOff = true;
    else this.outcome.cutOff();
  }

  /** It is sent when the client has read everything. */
  private settle(): void {
    if (this.unsent) return;
    this.hasEnded = false;
    this.outcome.sent();
  }

  /** Counts bytes of a body with content-length. Returns whether they fit. */
  private count(bytes: Uint8Array): boolean {
    if (typeof this.bodyEnd !== 'number') return true;
    this.left -= bytes.length;
    if (this.left >= 0) return true;
    const { source } = this;
    this.source = undefined;
    this.outcome.broken(undefined);
    source?.cancel();
    return false;
  }

  /** Sends a complete response, whose head was just written. */
  private finish(body: Uint8Array): void {
    this.hasEnded = true;
    if (this.unsent) this.send(messageHead.text(), body, '');
    else this.sent(messageHead.send(this.socket, body));
    this.settle();
  }

  /** Sends the head before the first bytes, and each piece as a chunk. */
  private sendPiece(bytes: Uint8Array, last: string): void {
    const { head } = this;
    this.head = '';
    const isChunk = this.bodyEnd === 'chunked' && bytes.length > 0;
    if (isChunk) this.send(head + sizeLine(bytes.length), bytes, last === '' ? LINE_END : LINE_END + last);
    else this.send(head, bytes, last);
  }

  private send(before: string, bytes: Uint8Array, after: string): void {
    if (this.unsent) {
      this.unsent = Buffer.concat([this.unsent, Buffer.from(before, 'latin1'), bytes, Buffer.from(after, 'latin1')]);
      return;
    }
    this.sent(sendTogether(this.socket, before, bytes, after));
  }

  /** `unsent`: what the socket did not accept. */
  private sent(unsent: Uint8Array | undefined): void {
    this.unsent = unsent;
    if (unsent) this.unsentSinceMs = performance.now();
  }
}

/** The size line of a chunk. Most chunks have one of a few lengths. */
function sizeLine(length: number): string {
  if (length >= sizeLines.length) return length.toString(16) + LINE_END;
  sizeLines[length] ||= length.toString(16) + LINE_END;
  return sizeLines[length];
}

/** The sink of one source: what the source writes after its end must not affect the next response. */
class SourceSink implements ByteSink {
  private readonly writer: AnswerWriter;
  private readonly source: ByteSource;

  constructor(writer: AnswerWriter, source: ByteSource) {
    this.writer = writer;
    this.source = source;
  }

  write(bytes: Uint8Array): boolean {
    return this.writer.write(this.source, bytes);
  }

  end(bytes: Uint8Array = NOTHING): void {
    this.writer.end(this.source, bytes);
  }

  fail(cause?: unknown): void {
    this.writer.fail(this.source, cause);
  }
}
