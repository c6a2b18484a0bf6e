/** Writes answers to a connection, one after another, at the pace the client takes them. */
import type { Socket } from 'bun';
import { type Answer, type BodyEnd, type ByteSink, type ByteSource, writeAnswerHead } from './answer.ts';
import type { ClientRequest } from './client-request.ts';

/** What becomes of an answer. */
export interface Outcome {
  /** All of it has been taken. */
  sent(): void;
  /** It cannot be completed: the connection must not be used any more. `cause`: where it is a failure of our own. */
  broken(cause: unknown): void;
}

/** A body up to this size is sent with its head in one system call, for the price of copying it. */
const SENT_TOGETHER_BYTES = 64 * 1024;
const LAST_CHUNK = '0\r\n\r\n';
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const NOTHING = new Uint8Array();

export class AnswerWriter implements ByteSink {
  private readonly socket: Socket<unknown>;
  private readonly outcome: Outcome;
  /** Of an answer under way: its head until something is sent, its source until all is written. */
  private head = '';
  private source: ByteSource | undefined;
  private bodyEnd: BodyEnd = 'none';
  /** Bytes still to come of a body whose length has been said. */
  private left = 0;
  private isPulling = false;
  private hasWritten = false;
  /** An answer is written to its end, and not sent yet. */
  private hasEnded = false;
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
    this.send(CONTINUE);
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
    this.head = writeAnswerHead(answer, this.bodyEnd, keep && this.bodyEnd !== 'close', Date.now());
    if (bytes instanceof Uint8Array) this.finish(isBodiless ? NOTHING : bytes);
    else if (isBodiless) {
      bytes.cancel();
      this.finish(NOTHING);
    } else {
      this.left = length ?? 0;
      this.source = bytes;
      bytes.start(this);
      this.pump();
    }
  }

  /** The socket takes bytes again. */
  drained(): void {
    const { unsent } = this;
    if (!unsent) return;
    this.unsent = undefined;
    this.unsentSinceMs = Number.POSITIVE_INFINITY;
    this.send(unsent);
    if (this.hasEnded) this.settle();
    else this.pump();
  }

  /** Nobody takes the answer any more. */
  cancel(): void {
    const { source } = this;
    this.source = undefined;
    this.hasEnded = false;
    source?.cancel();
  }

  write(bytes: Uint8Array): void {
    if (!this.source) return;
    this.hasWritten = true;
    if (bytes.length > 0 && this.count(bytes)) this.send(this.framed(bytes, ''));
    if (!this.isPulling) this.pump();
  }

  end(bytes: Uint8Array = NOTHING): void {
    if (!this.source || !this.count(bytes)) return;
    if (typeof this.bodyEnd === 'number' && this.left > 0) {
      this.fail();
      return;
    }
    this.source = undefined;
    this.hasEnded = true;
    this.send(this.framed(bytes, this.bodyEnd === 'chunked' ? LAST_CHUNK : ''));
    this.settle();
  }

  fail(cause?: unknown): void {
    if (!this.source) return;
    this.source = undefined;
    this.outcome.broken(cause);
  }

  /** It is sent when the client has taken all of it and its source has come to rest: what that does still is not the next one's. */
  private settle(): void {
    if (this.unsent || this.isPulling) return;
    this.hasEnded = false;
    this.outcome.sent();
  }

  /** Of a body whose length has been said: whether there is room for these. */
  private count(bytes: Uint8Array): boolean {
    if (typeof this.bodyEnd !== 'number') return true;
    this.left -= bytes.length;
    if (this.left >= 0) return true;
    const { source } = this;
    this.fail();
    source?.cancel();
    return false;
  }

  /** An answer that is all there. */
  private finish(body: Uint8Array): void {
    const { head } = this;
    this.head = '';
    this.hasEnded = true;
    if (body.length <= SENT_TOGETHER_BYTES) this.send(withHead(head, body));
    else {
      this.send(Buffer.from(head, 'latin1'));
      this.send(body);
    }
    this.settle();
  }

  /** As they go out: the answer's head before its first bytes, each piece between its chunk's size and end. */
  private framed(bytes: Uint8Array, last: string): Uint8Array {
    const { head } = this;
    this.head = '';
    const isChunk = this.bodyEnd === 'chunked' && bytes.length > 0;
    if (!isChunk && head === '' && last === '') return bytes;
    const before = isChunk ? `${head}${bytes.length.toString(16)}\r\n` : head;
    const after = isChunk ? `\r\n${last}` : last;
    const whole = Buffer.allocUnsafe(before.length + bytes.length + after.length);
    whole.write(before, 0, 'latin1');
    whole.set(bytes, before.length);
    whole.write(after, before.length + bytes.length, 'latin1');
    return whole;
  }

  /** Has the source bring more, where what it brought has gone out. */
  private pump(): void {
    if (this.isPulling || !this.source || this.unsent) return;
    this.isPulling = true;
    this.hasWritten = false;
    this.source.pull().then(this.pulled, this.pullFailed);
  }

  private readonly pulled = (): void => {
    this.isPulling = false;
    try {
      if (this.hasEnded) this.settle();
      // A source that had nothing to bring writes when it has.
      else if (this.hasWritten) this.pump();
    } catch (thrown) {
      this.outcome.broken(thrown);
    }
  };

  private readonly pullFailed = (thrown: unknown): void => {
    // What fails after its end was all said is no less whole.
    if (this.hasEnded) this.pulled();
    else this.fail(thrown);
  };

  private send(bytes: Uint8Array): void {
    if (this.unsent) {
      this.unsent = Buffer.concat([this.unsent, bytes]);
      return;
    }
    const written = Math.max(0, this.socket.write(bytes));
    if (written === bytes.length) return;
    this.unsent = bytes.subarray(written);
    this.unsentSinceMs = performance.now();
  }
}

function withHead(head: string, body: Uint8Array): Uint8Array {
  const whole = Buffer.allocUnsafe(head.length + body.length);
  whole.write(head, 0, 'latin1');
  whole.set(body, head.length);
  return whole;
}
