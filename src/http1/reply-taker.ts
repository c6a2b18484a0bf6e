/** Who a reply is brought to, and what it can ask of the connection that brings it. */
import type { HeaderLines } from './header-lines.ts';

/** Where a reply's bytes come from. */
export interface Source {
  /** No more for now: nobody takes what has arrived. */
  pause(): void;
  /** More is wanted. */
  resume(): void;
  /** Ends it at once: nobody wants what would still come. */
  stop(): void;
}

/** Takes the bytes of a reply's body. */
export interface BodyTaker {
  push(bytes: Uint8Array): void;
  finish(): void;
  /** The reply ends before its end; what arrived before still counts. */
  broke(cause: unknown): void;
}

/** Takes a reply from its connection's opening to its end. */
export interface ReplyTaker extends BodyTaker {
  /** 0 until the reply has begun. */
  readonly status: number;
  /** It is over before its end: nothing of it is wanted any more. */
  readonly isOver: boolean;
  /** A connection is being opened for it. */
  connecting(): void;
  /** The connection that brings it, or what stands between. */
  from(source: Source): void;
  /** The upstream takes what it is sent. */
  awaitAnswer(): void;
  begin(status: number, headers: HeaderLines): void;
}
