/** One exchange with an upstream: what has arrived waits here until it is asked for, under the time limits. */
import { GatewayError } from '../canonical/errors.ts';
import type { HeaderLines } from '../http1/header-lines.ts';
import type { ReplyTaker, Source } from '../http1/reply-taker.ts';
import type { Cancellation } from './cancellation.ts';
import type { TimeLimits, Watch, Watched } from './time-limits.ts';

/** Takes an answer's bytes as they arrive. */
export interface ByteTaker {
  bytes(bytes: Uint8Array): void;
  /** That was all. */
  end(): void;
  /** `upstream_timeout` or `upstream_failed`. */
  failed(failure: GatewayError): void;
}

/** An answer under way. */
export interface Exchange {
  readonly status: number;
  /** Made when it is asked for; `header` is cheaper. */
  readonly headers: Headers;
  /** The value of the header of this lower-case name. */
  header(name: string): string | undefined;
  /** The next bytes, `undefined` at the end. Throws `upstream_timeout` or `upstream_failed`. */
  read(): Promise<Uint8Array | undefined>;
  /** All bytes, up to `maxBytes`, at once where they have arrived; throws as `read` does. */
  readAll(maxBytes: number): Uint8Array | Promise<Uint8Array>;
  /** Has all bytes that are still to come handed over as they arrive, in the place of `read`. */
  pour(taker: ByteTaker): void;
  /** What is poured waits; `resume` lets it flow again. */
  pause(): void;
  resume(): void;
  /** Ends the exchange at once, whatever its state. */
  cancel(): void;
}

/** With this much waiting the source pauses: a client that reads slowly makes its upstream send slowly. */
const MOST_WAITING_BYTES = 256 * 1024;

interface Waiting {
  resolve(bytes: Uint8Array | undefined): void;
  reject(failure: GatewayError): void;
}

export class ExchangeState implements Exchange, ReplyTaker, Watched {
  status = 0;
  failure: GatewayError | undefined;
  /** Resolves with the headers, this very exchange. */
  readonly begun: Promise<Exchange>;
  private resolveBegun!: (exchange: Exchange) => void;
  private rejectBegun!: (failure: GatewayError) => void;
  /** On the clock of `performance.now()`, and what is said when it has come. */
  private deadline = Number.POSITIVE_INFINITY;
  private sentence = '';
  private said: HeaderLines | Headers | undefined;
  private source: Source | undefined;
  private arrived: Uint8Array[] = [];
  private arrivedBytes = 0;
  private hasRead = false;
  private paused = false;
  private ended = false;
  private waiting: Waiting | undefined;
  /** Who is handed what arrives, unless it is held back. */
  private taker: ByteTaker | undefined;
  private isHeld = false;
  /** Something has been handed over since it was last looked. */
  private hasPoured = false;
  private readonly limits: TimeLimits;
  private readonly wholeDeadline: number;
  /** Both hold it until nothing more will come. */
  private readonly cancellation: Cancellation;
  private readonly watch: Watch;

  constructor(limits: TimeLimits, wholeDeadline: number, cancellation: Cancellation, watch: Watch) {
    this.limits = limits;
    this.wholeDeadline = wholeDeadline;
    this.cancellation = cancellation;
    this.watch = watch;
    watch.add(this);
    this.begun = new Promise((resolve, reject) => {
      this.resolveBegun = resolve;
      this.rejectBegun = reject;
    });
  }

  get headers(): Headers {
    const { said } = this;
    return said instanceof Headers ? said : (said?.toHeaders() ?? new Headers());
  }

  /** No connection has taken the request. */
  private get unsent(): boolean {
    return this.source === undefined && this.status === 0;
  }

  header(name: string): string | undefined {
    return this.said?.get(name) ?? undefined;
  }

  get isOver(): boolean {
    return this.failure !== undefined;
  }

  connecting(): void {
    this.limit('connectMs', 'The upstream did not accept a connection in time.');
  }

  /** From now on this limit runs. */
  private limit(name: keyof TimeLimits, sentence: string): void {
    this.sentence = sentence;
    this.deadline = Math.min(performance.now() + this.limits[name], this.wholeDeadline);
  }

  look(now: number): void {
    if (this.hasPoured) {
      this.hasPoured = false;
      if (!this.isHeld) this.awaitMore();
    }
    // Also of what never pauses: the whole call has its end.
    if (this.deadline <= now) this.expire();
  }

  private expire(): void {
    const whole = this.deadline === this.wholeDeadline;
    const sentence = whole ? 'The call took longer than a whole call may take.' : this.sentence;
    this.fail(new GatewayError('upstream_timeout', sentence, { retryable: !whole, unsent: this.unsent }));
  }

  cancel(): void {
    this.fail(new GatewayError('upstream_failed', 'The call was cancelled.', { retryable: false }));
  }

  /** What brings the answer. Whoever ended the exchange before ends this too. */
  from(source: Source): void {
    this.source = source;
    if (this.failure) {
      source.stop();
      return;
    }
    this.cancellation.markSent();
    this.awaitAnswer();
  }

  /** The upstream takes what it is sent: its time to answer begins anew. */
  awaitAnswer(): void {
    if (this.status === 0) this.limit('headersMs', 'The upstream did not begin to answer in time.');
  }

  /** The upstream has begun to answer. */
  begin(status: number, headers: HeaderLines | Headers): void {
    this.status = status;
    this.said = headers;
    this.limit('firstTokenMs', 'The upstream sent headers and then nothing in time.');
    this.resolveBegun(this);
  }

  /** Bytes have arrived. */
  push(bytes: Uint8Array): void {
    if (this.failure || bytes.length === 0) return;
    if (this.taker && !this.isHeld) {
      // When it was is noted by `look`: a clock is asked for more seldom than bytes come.
      this.hasPoured = true;
      this.taker.bytes(bytes);
      return;
    }
    this.deadline = this.wholeDeadline;
    this.hasRead = true;
    if (this.waiting) {
      const { resolve } = this.waiting;
      this.waiting = undefined;
      resolve(bytes);
      return;
    }
    this.arrived.push(bytes);
    this.arrivedBytes += bytes.length;
    if (this.arrivedBytes < MOST_WAITING_BYTES || this.paused) return;
    this.paused = true;
    this.source?.pause();
  }

  /** The answer is complete: its source may serve others. */
  finish(): void {
    if (this.failure || this.ended) return;
    this.ended = true;
    this.source = undefined;
    this.letGo();
    this.waiting?.resolve(undefined);
    this.waiting = undefined;
    if (!this.isHeld) this.lastTaker()?.end();
  }

  private letGo(): void {
    this.watch.delete(this);
    this.cancellation.delete(this);
  }

  pour(taker: ByteTaker): void {
    this.taker = taker;
    this.flow();
  }

  pause(): void {
    this.isHeld = true;
    // A client that pauses is not the upstream's silence.
    this.deadline = this.wholeDeadline;
    this.hasPoured = false;
  }

  resume(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.flow();
  }

  /** Hands over what has waited, and the end where it has come. */
  private flow(): void {
    if (this.arrived.length > 0) this.taker?.bytes(this.take());
    if (this.isHeld) return;
    if (this.failure) this.lastTaker()?.failed(this.failure);
    else if (this.ended) this.lastTaker()?.end();
    else this.awaitMore();
  }

  /** Who is told that it is over, and nothing after that. */
  private lastTaker(): ByteTaker | undefined {
    const { taker } = this;
    this.taker = undefined;
    return taker;
  }

  private awaitMore(): void {
    this.limit('silenceMs', 'The upstream fell silent in the middle of its answer.');
  }

  /** The exchange is over, and what has arrived is dropped; a second failure is no news. */
  fail(failure: GatewayError): void {
    this.arrived = [];
    this.end(failure);
  }

  private end(failure: GatewayError): void {
    if (this.failure) return;
    this.failure = failure;
    if (!this.ended) this.letGo();
    this.source?.stop();
    this.rejectBegun(failure);
    this.waiting?.reject(failure);
    this.waiting = undefined;
    if (!this.isHeld) this.lastTaker()?.failed(failure);
  }

  /** The connection broke: what arrived before can still be read. */
  broke(cause: unknown): void {
    const sentence =
      this.status === 0
        ? 'The upstream could not be reached or closed the connection without an answer.'
        : 'The upstream broke off in the middle of its answer.';
    const { unsent } = this;
    this.end(cause instanceof GatewayError ? cause : new GatewayError('upstream_failed', sentence, { cause, unsent }));
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.arrived.length > 0) return Promise.resolve(this.take());
    if (this.failure) return Promise.reject(this.failure);
    if (this.ended) return Promise.resolve(undefined);
    // The clock of silence runs while somebody listens: a client that pauses is not the upstream's silence.
    if (this.hasRead) this.awaitMore();
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
    });
  }

  readAll(maxBytes: number): Uint8Array | Promise<Uint8Array> {
    if (!this.ended || this.arrived.length === 0) return this.gather(maxBytes);
    if (this.arrivedBytes > maxBytes) throw this.tooLarge(maxBytes);
    return this.take();
  }

  private async gather(maxBytes: number): Promise<Uint8Array> {
    if (Number(this.header('content-length') ?? 0) > maxBytes) throw this.tooLarge(maxBytes);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (let chunk = await this.read(); chunk; chunk = this.isDrained ? undefined : await this.read()) {
      size += chunk.length;
      if (size > maxBytes) throw this.tooLarge(maxBytes);
      chunks.push(chunk);
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
  }

  private get isDrained(): boolean {
    return this.ended && this.arrived.length === 0;
  }

  private tooLarge(maxBytes: number): GatewayError {
    this.cancel();
    return new GatewayError('upstream_failed', `The upstream's answer is larger than ${maxBytes} bytes.`);
  }

  private take(): Uint8Array {
    const { arrived, arrivedBytes } = this;
    this.arrived = [];
    this.arrivedBytes = 0;
    if (this.paused) {
      this.paused = false;
      this.source?.resume();
    }
    return arrived.length === 1 ? arrived[0]! : Buffer.concat(arrived, arrivedBytes);
  }
}
