/** The body of a client's request. Bytes wait here until they are read. */
import type { RequestFault } from './request-fault.ts';

/** What a body needs of its connection. */
export interface BodySource {
  /** Bytes are requested: a client that waits for `100 Continue` gets it. */
  wanted(): void;
  /** Stop reading: nothing consumes what has arrived. */
  pause(): void;
  resume(): void;
}

/** With this much waiting the connection is not read, so that a fast client has to wait. */
const MOST_WAITING_BYTES = 256 * 1024;
/** The same for the number of pieces, because each costs much more than a byte. */
const MOST_WAITING_PIECES = 4096;

/** Shared, because most requests bring one piece, and then an array of one: nothing is added to this one. */
const NONE: Uint8Array[] = [];

interface PendingRead {
  resolve(bytes: Uint8Array | undefined): void;
  reject(failure: RequestFault): void;
}

export class RequestBody {
  /** The number of bytes, if content-length states it. */
  readonly length: number | undefined;
  /** Everything has arrived. */
  isComplete = false;
  private failure: RequestFault | undefined;
  private arrived: Uint8Array[] = NONE;
  private arrivedBytes = 0;
  private isPaused = false;
  private waiting: PendingRead | undefined;
  private readonly source: BodySource;

  constructor(length: number | undefined, source: BodySource) {
    this.length = length;
    this.source = source;
  }

  /** Everything has been read. */
  get isRead(): boolean {
    return this.isComplete && this.arrived.length === 0;
  }

  /** The next bytes, or `undefined` at the end. Throws RequestFault if the body failed. */
  read(): Promise<Uint8Array | undefined> {
    if (this.arrived.length > 0) return Promise.resolve(this.take());
    if (this.isComplete) return Promise.resolve(undefined);
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.source.wanted();
    });
  }

  /** The rest of the body, if it has arrived already. */
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
    if (this.arrived === NONE) this.arrived = [bytes];
    else this.arrived.push(bytes);
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

  /** No more bytes will arrive: the client disconnected, or the body is invalid. */
  broke(failure: RequestFault): void {
    if (this.isComplete || this.failure) return;
    this.failure = failure;
    this.waiting?.reject(failure);
    this.waiting = undefined;
  }

  /** The rest will not be read. */
  discard(): void {
    if (this.arrived.length === 0) return;
    this.arrived = NONE;
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
