/** The receiver of a reply, and the source that it can control. */
import type { HeaderLines } from './header-lines.ts';

/** The source of a reply's bytes. */
export interface Source {
  /** Stop reading: nothing consumes what has arrived. */
  pause(): void;
  /** Continue reading. */
  resume(): void;
  /** Cancel at once: the rest is not needed. */
  stop(): void;
}

/** Receives the bytes of a reply's body. */
export interface BodyTaker {
  push(bytes: Uint8Array): void;
  finish(): void;
  /** The reply failed before its end; what arrived before is valid. */
  broke(cause: unknown): void;
}

/** Receives a reply, from the opening of the connection to the end. */
export interface ReplyTaker extends BodyTaker {
  /** 0 until the head has arrived. */
  readonly status: number;
  /** It has ended early, and the rest is not needed. */
  readonly isOver: boolean;
  /** A connection is being opened for it. */
  connecting(): void;
  /** The source, which is the connection or a decompressor. */
  from(source: Source): void;
  /** The request is being sent. */
  awaitAnswer(): void;
  begin(status: number, headers: HeaderLines): void;
}
