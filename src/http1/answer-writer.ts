/** Writes answers to a connection, one after another, at the pace the client takes them. */
import type { Socket } from 'bun';
import { type Answer, type BodyEnd, type ByteSink, type ByteSource, writeAnswerHead } from './answer.ts';
import type { ClientRequest } from './client-request.ts';
import { sendTogether } from './send-together.ts';

/** What becomes of an answer. */
export interface Outcome {
  /** All of it has been taken. */
  sent(): void;
  /** It cannot be completed: the connection must not be used any more. `cause`: where it is a failure of our own. */
  broken(cause: unknown): void;
  /** The same once all that was written has been taken: an end of the connection shows that there is more to come. */
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
  /** Of an answer under way: its head until something is sent, its source until all is written. */
  private head = '';
  private source: ByteSource | undefined;
  private bodyEnd: BodyEnd = 'none';
  /** Bytes still to come of a body whose length has been said. */
  private left = 0;
  /** An answer is written to its end, and not sent yet. */
  private hasEnded = false;
  /** It ends where it is, without the end that would make it complete. */
  private isCutOff = false;
  /** What the socket has not taken yet. */
  private unsent: Uint8Array | undefined;
  /** On the clock of `performance.now()`: since when the client has taken nothing; endless where nothing waits for it. */
  unsentSinceMs = Number.POSITIVE_INFINITY;

  constructor(socket: Socket<unknown>, outcome: Outcome) {
    this.socket = socket;
    this.outcome = outcome;
  }

  /** Asks a client that waits to be asked for its body. */
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

  /** The socket takes bytes again. */
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

  /** Nobody takes the answer any more. */
  cancel(): void {
    const { source } = this;
    this.source = undefined;
    this.hasEnded = false;
    source?.cancel();
  }

  /** `source` and below: nothing is done for one whose answer it is not any more. */
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
    // Where the connection's end is the body's, only a reset says that there was more; a reset takes with it what was not read yet.
    if (cause !== undefined || this.bodyEnd === 'close') this.outcome.broken(cause);
    else if (this.unsent) this.isCutOff = true;
    else this.outcome.cutOff();
  }

  /** It is sent when the client has taken all of it. */
  private settle(): void {
    if (this.unsent) return;
    this.hasEnded = false;
    this.outcome.sent();
  }

  /** Of a body whose length has been said: whether there is room for these. */
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

  /** An answer that is all there. */
  private finish(body: Uint8Array): void {
    const { head } = this;
    this.head = '';
    this.hasEnded = true;
    this.send(head, body, '');
    this.settle();
  }

  /** The answer's head goes before its first bytes, each piece between its chunk's size and end. */
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

/** A chunk's first line. Most are of a few lengths. */
function sizeLine(length: number): string {
  if (length >= sizeLines.length) return length.toString(16) + LINE_END;
  sizeLines[length] ||= length.toString(16) + LINE_END;
  return sizeLines[length];
}

/** Where one source writes: what it does after its end is not the next one's. */
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
