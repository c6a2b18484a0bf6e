/** Writes responses to a connection, one after another, as fast as the client reads. */
import type { Socket } from 'bun';
import { type Answer, type BodyEnd, type ByteSink, type ByteSource, writeAnswerHead } from './answer.ts';
import type { ClientRequest } from './client-request.ts';
import { sendTogether } from './send-together.ts';

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

  /** Throws UnsayableHeader; then nothing was sent. */
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
    this.head = writeAnswerHead(answer, this.bodyEnd, persistence, Date.now());
    if (bytes instanceof Uint8Array) this.finish(isBodiless ? NOTHING : bytes);
    else if (isBodiless) {
      bytes.cancel();
      this.finish(NOTHING);
    } else {
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

  /** Sends a complete response. */
  private finish(body: Uint8Array): void {
    const { head } = this;
    this.head = '';
    this.hasEnded = true;
    this.send(head, body, '');
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
    this.unsent = sendTogether(this.socket, before, bytes, after);
    if (this.unsent) this.unsentSinceMs = performance.now();
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
