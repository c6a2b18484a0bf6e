/** One exchange with an upstream: buffers the response until it is read, and enforces the time limits. */
import { GatewayError } from '../canonical/errors.ts';
import { LongHead } from '../http1/bytes.ts';
import type { HeaderLines } from '../http1/header-lines.ts';
import type { ReplyTaker, Source } from '../http1/reply-taker.ts';
import type { Cancellation } from './cancellation.ts';
import type { TimeLimits, Watch, Watched } from './time-limits.ts';

/** Receives the bytes of a response as they arrive. */
export interface ByteTaker {
  bytes(bytes: Uint8Array): void;
  /** The response is complete. */
  end(): void;
  /** `upstream_timeout` or `upstream_failed`. */
  failed(failure: GatewayError): void;
}

/** A response in progress. */
export interface Exchange {
  readonly status: number;
  /** Built on demand; `header` is cheaper. */
  readonly headers: Headers;
  /** The value of the header with this lower-case name. */
  header(name: string): string | undefined;
  /** The next bytes, or `undefined` at the end. Throws `upstream_timeout` or `upstream_failed`. */
  read(): Promise<Uint8Array | undefined>;
  /** All bytes up to `maxBytes`; synchronous if they have arrived. Throws as `read` does. */
  readAll(maxBytes: number): Uint8Array | Promise<Uint8Array>;
  /** Passes all further bytes on as they arrive, instead of `read`. */
  pour(taker: ByteTaker): void;
  /** Pauses what `pour` passes on; `resume` continues it. */
  pause(): void;
  resume(): void;
  /** Its response has started: the limit of the attempt (`answerMs`) does not apply any more. */
  answered(): void;
  /** Ends the exchange at once in any state. */
  cancel(): void;
}

/** With this much waiting the source pauses, so a slow client makes its upstream wait. */
const MOST_WAITING_BYTES = 256 * 1024;

/** How exactly the silence of a stream is measured. */
const LOOKS_PER_SILENCE = 64;

/** Shared, because most responses bring one piece, and then an array of one: nothing is added to this one. */
const NONE: Uint8Array[] = [];

interface WaitingRead {
  resolve(bytes: Uint8Array | undefined): void;
  reject(failure: GatewayError): void;
}

export class ExchangeState implements Exchange, ReplyTaker, Watched {
  status = 0;
  place = -1;
  failure: GatewayError | undefined;
  /** Resolves with this object when the headers have arrived. */
  readonly begun: Promise<Exchange>;
  private readonly resolveBegun: (exchange: Exchange) => void;
  private readonly rejectBegun: (failure: GatewayError) => void;
  /** The current time limit by `performance.now()`, and its error message. */
  private deadline = Number.POSITIVE_INFINITY;
  /** A limit that begins with the next check; -1: none. Reading a clock for each limit costs more. */
  private nextLimitMs = -1;
  private sentence = '';
  /** Until when the answer has to begin, whatever else arrives. */
  private answerDeadline = Number.POSITIVE_INFINITY;
  private answerHeaders: HeaderLines | Headers | undefined;
  private source: Source | undefined;
  private arrived: Uint8Array[] = NONE;
  private arrivedBytes = 0;
  private hasRead = false;
  private paused = false;
  private ended = false;
  private waiting: WaitingRead | undefined;
  /** The receiver of `pour`, unless paused. */
  private taker: ByteTaker | undefined;
  private isHeld = false;
  /** Bytes were passed on since the last check. */
  private hasPoured = false;
  private readonly limits: TimeLimits;
  private readonly wholeDeadline: number;
  /** Both refer to it until nothing more will arrive. */
  private readonly cancellation: Cancellation;
  private readonly watch: Watch;

  constructor(limits: TimeLimits, wholeDeadline: number, cancellation: Cancellation, watch: Watch) {
    this.limits = limits;
    this.wholeDeadline = wholeDeadline;
    this.cancellation = cancellation;
    this.watch = watch;
    watch.add(this);
    const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
    this.begun = promise;
    this.resolveBegun = resolve;
    this.rejectBegun = reject;
  }

  get headers(): Headers {
    const { answerHeaders } = this;
    return answerHeaders instanceof Headers ? answerHeaders : (answerHeaders?.toHeaders() ?? new Headers());
  }

  /** No connection has accepted the request. */
  private get unsent(): boolean {
    return this.source === undefined && this.status === 0;
  }

  header(name: string): string | undefined {
    return this.answerHeaders?.get(name) ?? undefined;
  }

  get isOver(): boolean {
    return this.failure !== undefined;
  }

  connecting(): void {
    this.limit('connectMs', 'The upstream did not accept a connection in time.');
  }

  /** Starts this time limit. */
  private limit(name: Exclude<keyof TimeLimits, 'answerMs'>, sentence: string): void {
    this.sentence = sentence;
    this.nextLimitMs = this.limits[name];
    this.deadline = this.wholeDeadline;
  }

  /** From now on only the limit of the whole call holds. */
  private unlimited(): void {
    this.nextLimitMs = -1;
    this.deadline = this.wholeDeadline;
  }

  look(now: number): number {
    if (this.hasPoured) {
      this.hasPoured = false;
      if (!this.isHeld) this.awaitMore();
    }
    if (this.nextLimitMs >= 0) {
      this.deadline = Math.min(now + this.nextLimitMs, this.wholeDeadline);
      this.nextLimitMs = -1;
    }
    // Also for a response that never pauses: the whole call has a limit.
    if (this.deadline <= now) this.expire();
    else if (this.answerDeadline <= now)
      this.fail(new GatewayError('upstream_timeout', 'The upstream did not begin to answer in time.'));
    // The limits before the answer begin at any time; from then on only silence and the whole call are limited.
    return this.taker ? Math.min(now + this.limits.silenceMs / LOOKS_PER_SILENCE, this.deadline) : now;
  }

  answered(): void {
    this.answerDeadline = Number.POSITIVE_INFINITY;
  }

  private expire(): void {
    const whole = this.deadline === this.wholeDeadline;
    const sentence = whole ? 'The call took longer than a whole call may take.' : this.sentence;
    this.fail(new GatewayError('upstream_timeout', sentence, { retryable: !whole, unsent: this.unsent }));
  }

  cancel(): void {
    this.fail(new GatewayError('upstream_failed', 'The call was cancelled.', { retryable: false }));
  }

  /** Sets the source of the response. An exchange that has already ended stops it. */
  from(source: Source): void {
    this.source = source;
    if (this.failure) {
      source.stop();
      return;
    }
    this.cancellation.markSent();
    this.awaitAnswer();
  }

  /** The upstream has accepted the request: the time until its response starts now. */
  awaitAnswer(): void {
    if (this.status !== 0) return;
    this.limit('headersMs', 'The upstream did not begin to answer in time.');
    if (this.limits.answerMs !== undefined) this.answerDeadline = performance.now() + this.limits.answerMs;
  }

  /** The upstream has started its response. */
  begin(status: number, headers: HeaderLines | Headers): void {
    this.status = status;
    this.answerHeaders = headers;
    this.limit('firstTokenMs', 'The upstream sent headers and then nothing in time.');
    this.resolveBegun(this);
  }

  /** Bytes have arrived. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    // Once it has failed it has no receiver, unless that has paused.
    if (this.taker && !this.isHeld) {
      // The time is recorded by `look`, because reading a clock for every piece costs more.
      this.hasPoured = true;
      this.taker.bytes(bytes);
      return;
    }
    if (this.failure) return;
    this.unlimited();
    this.hasRead = true;
    if (this.waiting) {
      const { resolve } = this.waiting;
      this.waiting = undefined;
      resolve(bytes);
      return;
    }
    if (this.arrived === NONE) this.arrived = [bytes];
    else this.arrived.push(bytes);
    this.arrivedBytes += bytes.length;
    if (this.arrivedBytes < MOST_WAITING_BYTES || this.paused) return;
    this.paused = true;
    this.source?.pause();
  }

  /** The response is complete; its source can serve others. */
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
    // While the client pauses, silence is not the upstream's fault.
    this.unlimited();
    this.hasPoured = false;
  }

  resume(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.flow();
  }

  /** Passes on what has waited, and the end if it has arrived. */
  private flow(): void {
    if (this.arrived.length > 0) this.taker?.bytes(this.take());
    if (this.isHeld) return;
    if (this.failure) this.lastTaker()?.failed(this.failure);
    else if (this.ended) this.lastTaker()?.end();
    else this.awaitMore();
  }

  /** The receiver of the end. It receives nothing after it. */
  private lastTaker(): ByteTaker | undefined {
    const { taker } = this;
    this.taker = undefined;
    return taker;
  }

  private awaitMore(): void {
    this.limit('silenceMs', 'The upstream fell silent in the middle of its answer.');
  }

  /** Ends the exchange and drops what has arrived. A second failure is ignored. */
  fail(failure: GatewayError): void {
    this.arrived = NONE;
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

  /** The connection failed; what arrived before can still be read. */
  broke(cause: unknown): void {
    if (cause instanceof LongHead) {
      this.end(tooLong(cause));
      return;
    }
    const sentence =
      this.status === 0
        ? 'The upstream could not be reached or closed the connection without an answer.'
        : 'The upstream broke off in the middle of its answer.';
    const { unsent } = this;
    const unanswered = this.status === 0;
    const detail = { cause, unsent, unanswered };
    this.end(cause instanceof GatewayError ? cause : new GatewayError('upstream_failed', sentence, detail));
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.arrived.length > 0) return Promise.resolve(this.take());
    if (this.failure) return Promise.reject(this.failure);
    if (this.ended) return Promise.resolve(undefined);
    // The limit on silence applies only while something reads: a pause of the client is not the upstream's fault.
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
    this.arrived = NONE;
    this.arrivedBytes = 0;
    if (this.paused) {
      this.paused = false;
      this.source?.resume();
    }
    return arrived.length === 1 ? arrived[0]! : Buffer.concat(arrived, arrivedBytes);
  }
}

/** What makes it long comes from the request: headers that pass, or a name in the URL, such as a voice's. It is no failure of the target. */
function tooLong(cause: LongHead): GatewayError {
  const sentence =
    'A header of the request, or a name in it that is part of a URL, is too long to be sent to the provider.';
  return new GatewayError('invalid_request', sentence, { cause, unsent: true });
}
