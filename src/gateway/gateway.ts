/** The way of one call, as the edge sees it. */
import type { Presented } from '../access/access.ts';
import type { Load } from '../access/work-bounds.ts';
import type { Dialect, WireRequest } from '../dialects/dialect.ts';
import type { Answer } from '../http1/answer.ts';
import type { Client } from '../http1/client-request.ts';

/** A request at the edge: who, what, and how to learn that the client has left. */
export interface Incoming extends Presented {
  readonly requestId: string;
  /** Bytes of the body, where the request says it. */
  readonly announcedBytes: number | undefined;
  /** Reads the body within its bound, once; a promise where it has not arrived yet. What was not announced is taken from `load`.
   *  Throws GatewayError `request_too_large`, or as `Load.take` does. */
  read(load: Load): WireRequest | Promise<WireRequest>;
  readonly client: Client;
}

export interface Gateway {
  /** Answers a call of this dialect; every failure is written in the dialect's own error shape. */
  serve(dialect: Dialect, incoming: Incoming): Promise<Answer>;
  /** Calls under way. */
  readonly active: number;
  /** Resolves when no call is under way, or after `boundMs`, having ended what is left; everything is settled then. */
  drain(boundMs: number): Promise<void>;
}
