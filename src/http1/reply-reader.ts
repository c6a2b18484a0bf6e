/** Parses HTTP/1.1 replies from a connection's bytes. */
import { SPACE, ZERO } from './ascii.ts';
import { HeaderLines, lineEndOf, listHas, textEnd } from './header-lines.ts';
import { type BodyFraming, MalformedMessage, MessageReader, type MessageSink, readLength } from './message-reader.ts';

/** Receives the parts of a reply in order: one head, body pieces, one end. */
export interface ReplySink {
  head(status: number, headers: HeaderLines): void;
  body(bytes: Uint8Array): void;
  /** `reusable`: the connection can be used for another request. */
  end(reusable: boolean, idleMs: number | undefined): void;
}

/** In a status line (`HTTP/1.1 200 OK`): the version, and the places of its minor part, of the status and of the status's end. */
const VERSION = Buffer.from('HTTP/1.');
const MINOR_AT = 7;
const STATUS_AT = 9;
const STATUS_END = 12;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})/i;

export class ReplyReader implements MessageSink {
  private readonly sink: ReplySink;
  private readonly reader: MessageReader;
  /** The reply to a HEAD request has no body, whatever its headers are. */
  private bodiless = false;
  private keep = false;
  private idleMs: number | undefined;

  constructor(sink: ReplySink) {
    this.sink = sink;
    this.reader = new MessageReader(this);
  }

  /** Call when a request has been sent. */
  expect(method: string): void {
    this.bodiless = method === 'HEAD';
    this.reader.expect();
  }

  /** Throws MalformedMessage, also for bytes that answer no request. */
  read(bytes: Buffer): void {
    if (this.reader.read(bytes)) throw new MalformedMessage('bytes arrived that answer no request');
  }

  /** The connection has ended: returns whether the reply was complete. */
  close(): boolean {
    this.keep = false;
    return this.reader.close();
  }

  body(bytes: Uint8Array): void {
    this.sink.body(bytes);
  }

  end(): void {
    this.sink.end(this.keep, this.idleMs);
  }

  head(bytes: Buffer, from: number, to: number): BodyFraming {
    const end = lineEndOf(bytes, from, to);
    const status = readStatus(bytes, from, end);
    if (status === 0) throw new MalformedMessage('the status line is invalid');
    if (status === 101) throw new MalformedMessage('it changes to a protocol that was not requested');
    const headers = HeaderLines.read(bytes, end, to);
    if (!headers) throw new MalformedMessage('a header line is invalid');
    // An interim reply: the final one follows.
    if (status < 200) return 'interim';
    const framing = this.frame(status, headers, bytes[from + MINOR_AT] === ZERO);
    this.sink.head(status, headers);
    return framing;
  }

  private frame(status: number, headers: HeaderLines, isOld: boolean): BodyFraming {
    const encoding = headers.get('transfer-encoding');
    const length = readLength(headers);
    this.keep = !isOld && !asksToClose(headers);
    this.idleMs = readIdleMs(headers.get('keep-alive'));
    if (this.bodiless || status === 204 || status === 304) return 0;
    if (encoding === null) return length ?? 'close';
    if (encoding.toLowerCase() !== 'chunked') throw new MalformedMessage('its transfer-encoding is not supported');
    // With both headers, other parsers may use either one, so the connection is not reused.
    if (length !== undefined) this.keep = false;
    return 'chunked';
  }
}

/** The status of this line; 0 if the line is invalid. */
function readStatus(bytes: Buffer, from: number, to: number): number {
  for (let i = 0; i < MINOR_AT; i++) if (bytes[from + i] !== VERSION[i]) return 0;
  const minor = bytes[from + MINOR_AT]! - ZERO;
  if ((minor !== 0 && minor !== 1) || bytes[from + STATUS_AT - 1] !== SPACE) return 0;
  let status = 0;
  for (let at = from + STATUS_AT; at < from + STATUS_END; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return 0;
    status = status * 10 + digit;
  }
  const end = from + STATUS_END;
  const isEnd = end === to || (bytes[end] === SPACE && textEnd(bytes, end, to) === to);
  return isEnd && status >= 100 ? status : 0;
}

function asksToClose(headers: HeaderLines): boolean {
  if (headers.is('connection', 'keep-alive')) return false;
  const connection = headers.get('connection');
  return connection !== null && listHas(connection, 'close');
}

function readIdleMs(keepAlive: string | null): number | undefined {
  const seconds = keepAlive && KEEP_ALIVE_TIMEOUT.exec(keepAlive)?.[1];
  return seconds ? Number(seconds) * 1000 : undefined;
}
