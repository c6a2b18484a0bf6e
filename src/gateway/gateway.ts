/** The gateway as the HTTP edge sees it. */
import type { Caller, Presented } from '../access/access.ts';
import type { Load } from '../access/work-bounds.ts';
import type { Dialect, WireRequest } from '../dialects/dialect.ts';
import type { Answer } from '../http1/answer.ts';
import type { Client } from '../http1/client-request.ts';
import type { Explanation } from './admit/explain.ts';

/** A request from the edge: the presented key, the body, and how to learn that the client has left. */
export interface Incoming extends Presented {
  readonly requestId: string;
  /** The `content-length`, where the request has one. */
  readonly announcedBytes: number | undefined;
  /**
   * Reads the body, once, within its size limit; a promise where it has not arrived yet. Bytes that were not announced are
   * taken from `load`. Throws `request_too_large`, or what `Load.take` throws.
   */
  read(load: Load): WireRequest | Promise<WireRequest>;
  readonly client: Client;
}

export interface Gateway {
  /** Answers a call in this format. Errors are written in the format's own shape. */
  serve(dialect: Dialect, incoming: Incoming): Promise<Answer>;
  /** What would happen to the request now: nothing is sent, held or counted. Never throws for what is wrong with the request. */
  explain(dialect: Dialect, caller: Caller, request: WireRequest): Promise<Explanation>;
  /** Active calls. */
  readonly active: number;
  /** Resolves when no call is active. After `boundMs` it cancels the remaining ones. All are settled then. */
  drain(boundMs: number): Promise<void>;
}
