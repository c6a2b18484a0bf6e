/** The body of a client's request: what has arrived waits here until it is asked for. */
import type { RequestFault } from './request-fault.ts';

/** What a body asks of the connection that brings it. */
export interface BodySource {
  /** Somebody waits for bytes: a client that waits to be asked for them is asked. */
  wanted(): void;
  /** No more for now: nobody takes what has arrived. */
  pause(): void;
  resume(): void;
}

/** With this much waiting the connection is not read: who sends faster than the body is taken has to wait. */
const MOST_WAITING_BYTES = 256 * 1024;
/** Nor with this many pieces: each costs far more than a byte. */
const MOST_WAITING_PIECES = 4096;

interface Waiting {
  resolve(bytes: Uint8Array | undefined): void;
  reject(failure: RequestFault): void;
}

export class RequestBody {
  /** Bytes, where the request says how many it has. */
  readonly length: number | undefined;
  /** All of it has arrived. */
  isComplete = false;
  private failure: RequestFault | undefined;
  private arrived: Uint8Array[] = [];
  private arrivedBytes = 0;
  private isPaused = false;
  private waiting: Waiting | undefined;
  private readonly source: BodySource;

  constructor(length: number | undefined, source: BodySource) {
    this.length = length;
    this.source = source;
  }

  /** Nothing is left to read. */
  get isRead(): boolean {
    return this.isComplete && this.arrived.length === 0;
  }

  /** The next bytes, `undefined` at the end. Throws RequestFault where it broke off. */
  read(): Promise<Uint8Array | undefined> {
    if (this.arrived.length > 0) return Promise.resolve(this.take());
    if (this.isComplete) return Promise.resolve(undefined);
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.source.wanted();
    });
  }

  /** All that is left, where it has arrived: nobody has to wait for it. */
  takeArrived(): Uint8Array | undefined {
    return this.isComplete && this.arrived.length > 0 ? this.take() : undefined;
  }

  push(bytes: Uint8Array): void {
    const { waiting } = this;
    if (waiting) {
      this.waiting = undefined;
      waiting.resolve(bytes);
      return;
    }
    this.arrived.push(bytes);
    this.arrivedBytes += bytes.length;
    const isMuch = this.arrivedBytes >= MOST_WAITING_BYTES || this.arrived.length >= MOST_WAITING_PIECES;
    if (!isMuch || this.isPaused) return;
    this.isPaused = true;
    this.source.pause();
  }

  finish(): void {
    this.isComplete = true;
    this.waiting?.resolve(undefined);
    this.waiting = undefined;
  }

  /** Nothing more will come: the client has left, or what it sends is no body. */
  broke(failure: RequestFault): void {
    if (this.isComplete || this.failure) return;
    this.failure = failure;
    this.waiting?.reject(failure);
    this.waiting = undefined;
  }

  /** Nobody will read what has arrived. */
  discard(): void {
    if (this.arrived.length === 0) return;
    this.arrived = [];
    this.arrivedBytes = 0;
    if (!this.isPaused) return;
    this.isPaused = false;
    this.source.resume();
  }

  private take(): Uint8Array {
    const { arrived, arrivedBytes } = this;
    this.discard();
    return arrived.length === 1 ? arrived[0]! : Buffer.concat(arrived, arrivedBytes);
  }
}
