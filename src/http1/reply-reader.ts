/** Parses HTTP/1.1 replies from a connection's bytes. */
import { HeaderLines, listHas } from './header-lines.ts';
import { type Framing, MalformedMessage, MessageReader, readLength } from './message-reader.ts';

/** The head of a reply. */
export interface ReplyHead {
  status: number;
  headers: HeaderLines;
}

/** Receives the parts of a reply in order: one head, body pieces, one end. */
export interface ReplySink {
  head(head: ReplyHead): void;
  body(bytes: Uint8Array): void;
  /** `reusable`: the connection can be used for another request. */
  end(reusable: boolean, idleMs: number | undefined): void;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,6})/i;

export class ReplyReader {
  private readonly sink: ReplySink;
  private readonly reader: MessageReader;
  /** The reply to a HEAD request has no body, whatever its head says. */
  private bodiless = false;
  private keep = false;
  private idleMs: number | undefined;

  constructor(sink: ReplySink) {
    this.sink = sink;
    this.reader = new MessageReader({
      head: (text) => this.takeHead(text),
      body: (bytes) => sink.body(bytes),
      end: () => sink.end(this.keep, this.idleMs),
    });
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

  private takeHead(text: string): Framing {
    const lineEnd = text.indexOf('\r\n');
    const status = STATUS_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd));
    if (!status) throw new MalformedMessage('the status line is invalid');
    const code = Number(status[2]);
    if (code === 101) throw new MalformedMessage('it changes to a protocol that was not requested');
    const headers = HeaderLines.read(lineEnd < 0 ? '' : text.slice(lineEnd));
    if (!headers) throw new MalformedMessage('a header line is invalid');
    // An interim reply: the final one follows.
    if (code < 200) return 'interim';
    const framing = this.frame(code, headers, status[1] === '0');
    this.sink.head({ status: code, headers });
    return framing;
  }

  private frame(status: number, headers: HeaderLines, isOld: boolean): Framing {
    const encoding = headers.get('transfer-encoding');
    const length = readLength(headers.get('content-length'));
    this.keep = !isOld && !listHas(headers.get('connection'), 'close');
    this.idleMs = readIdleMs(headers.get('keep-alive'));
    if (this.bodiless || status === 204 || status === 304) return 0;
    if (encoding === null) return length ?? 'close';
    if (encoding.toLowerCase() !== 'chunked') throw new MalformedMessage('its transfer-encoding is not supported');
    // With both headers, other parsers may use either one, so the connection is not reused.
    if (length !== undefined) this.keep = false;
    return 'chunked';
  }
}

function readIdleMs(keepAlive: string | null): number | undefined {
  const seconds = keepAlive && KEEP_ALIVE_TIMEOUT.exec(keepAlive)?.[1];
  return seconds ? Number(seconds) * 1000 : undefined;
}
