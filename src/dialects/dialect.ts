/** The contract of a wire format: both directions, no I/O, no clock, no state between calls. */
import type { Call, Media } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Quirks } from './shared/quirks.ts';
import type { LimitHeaders } from './shared/rate-limit-headers.ts';
import type { Form } from './wire/multipart.ts';

/** A client's request as the edge hands it over. `headers` are lower-cased. */
export interface WireRequest {
  body: Uint8Array;
  headers: Pick<Headers, 'get' | 'has'>;
  /** Path parameters (`model` on the Gemini paths) and the query. */
  path: { [name: string]: string };
  query: URLSearchParams;
  /** The body, where it is a form that was taken apart as it came: `body` is empty then. */
  form?: Form;
  /** Its files are wanted no more. */
  release?(): void;
}

/** An HTTP answer as a dialect writes it. */
export interface WireReply {
  status: number;
  headers: { [name: string]: string };
  body: string;
}

/** The bytes a client of this dialect should receive, and what they mean (`events` decodes on first look, in order). */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly events: readonly ReplyEvent[];
}

/** Cuts an upstream's bytes into frames. Any cutting of the same bytes gives the same frames. */
export interface Reader {
  /** The media type of bare audio that came in another format's answer, once it is known. */
  readonly contentType?: string | undefined;
  read(chunk: Uint8Array): Frame[];
  /** The bytes are over: what is left, ending in `reply-end` where the reply is complete and in `error` where it broke off. */
  end(): Frame[];
}

/** Turns frames into the client's bytes. An empty array means: nothing to send. */
export interface Writer {
  /** `content-type` of the answer. */
  readonly contentType: string;
  /**
   * What of the frames written anew the format could not say so far, a sentence each. A stream whose format has comments
   * names them in one before its end: its headers left before they were known.
   */
  readonly warnings: readonly string[];
  /** Writes a frame of another dialect anew, from its meaning. */
  write(frame: Frame): Uint8Array;
  /** Passes a frame of this dialect on: its own bytes but for the model's name, what the client did not ask for, and repairs. */
  pass(frame: Frame): Uint8Array;
  /** The last bytes of a complete reply: the terminator, or a whole body. */
  end(): Uint8Array;
  /** Says in the client's words that the reply broke off; no terminator. */
  fail(error: GatewayError): Uint8Array;
  /**
   * What is said once more after `fail`, in a write of its own, before the connection is broken off. Only formats whose
   * libraries take a stream that ends properly for a complete one, whatever it said before.
   */
  lastWords?(error: GatewayError): Uint8Array;
  /** What the call is billed where its provider said nothing of it; told before the last frame is written or passed. */
  bill?(usage: Usage): void;
  /** Bytes that keep a silent stream open and mean nothing. */
  keepAlive(): Uint8Array;
  /** The whole reply as the client has been given it, once it has ended or failed; only formats whose server keeps replies. */
  kept?(): JsonObject | undefined;
}

/** A request's own items and its reply, as a format's server keeps them. */
export interface KeptTurn {
  input: JsonObject[];
  output: JsonObject[];
  /** The reply without its output. */
  reply: JsonObject;
  /** Whose proofs the output holds, where they are of use to that maker alone. */
  maker?: string;
}

/** A format whose server keeps conversations: what is kept of a call, and how another goes on from it. */
export interface Keeping<C extends Call = Call> {
  /** What the ids of kept replies begin with. */
  readonly idPrefix: string;
  /** Throws `invalid_request` where the call asks its server for what is not done here. */
  check(call: C): void;
  keep(call: C, reply: JsonObject): KeptTurn;
  /**
   * The call with the items of the turns before it, and with those that it names by their ids, which are in `before` or
   * `known`. Throws `not_found` where one is not.
   */
  resume(call: C, before: readonly KeptTurn[], known: readonly KeptTurn[]): C;
  /** A kept reply told as a stream, from behind this place on. */
  replay(reply: JsonObject, startingAfter: number): Uint8Array;
}

/** A large body that is still to be encoded. */
export interface LateBody {
  /** Sets a top-level member, or (`undefined`) removes it. */
  set(name: string, value: Json | undefined): void;
  encode(): Uint8Array;
  /** The same in pieces, between which others are served. */
  encodeInPieces(): Promise<Uint8Array>;
}

/** What a dialect made of a call: the body to send, and what it could not say (`warnings`, a sentence each). */
export interface Written {
  body: Uint8Array;
  /** In the body's place, of a large one: encoded in pieces when it is sent. */
  late?: LateBody;
  /** Sent in the body's place, which is JSON otherwise: whoever sends it parts it by what no client can have known. */
  form?: Form;
  warnings: string[];
}

export type { ModelQuirks, Quirks } from './shared/quirks.ts';

/** A format as providers are spoken to in it. */
export interface VendorDialect<C extends Call = Call> {
  readonly name: string;
  readonly kind: C['kind'];
  /** Its requests are those of a conversation on the wire: the provider's model may be asked in one as well. */
  readonly inConversation?: true;
  /** The format has one choice a reply: several choices are asked for in several calls. */
  readonly singleChoice?: true;
  /** Media that may be named by address, to be fetched by the provider; all others are handed over inline. */
  readonly supportsMediaUrls?: readonly Media['kind'][];
  /** Whether the model proves its turns, and wants the proofs back with them. */
  wantsProofs?(call: C, model: string, quirks: Quirks): boolean;
  /** Whether the call reaches the provider in a form, what came as files as files; else they are handed over inline. */
  takesUploads?(call: C, model: string, quirks: Quirks): boolean;
  /** Its proofs are of use only where they were made: at that provider's row of the catalogue. */
  readonly boundProofs?: true;
  writeCall(call: C, model: string, quirks: Quirks): Written;
  reader(call: C, contentType: string, quirks: Quirks): Reader;
  /** An upstream's refusal; whether another target may succeed is decided here, once. */
  readError(status: number, headers: Headers, body: Uint8Array): GatewayError;
}

/** A format that clients speak too. */
export interface Dialect<C extends Call = Call> extends VendorDialect<C> {
  /** Clients of the format hand proofs back: one that is missing was left out on purpose. */
  readonly handsProofsBack?: true;
  readonly keeping?: Keeping<C>;
  /** Throws GatewayError('invalid_request', …, { param }). */
  readCall(request: WireRequest): C;
  writer(call: C): Writer;
  writeError(error: GatewayError, requestId: string): WireReply;
  /** The headers that say what is left of the caller's limits; absent: those of OpenAI's names. */
  readonly limitHeaders?: LimitHeaders;
  /** The client's own body for a provider of the same dialect: its bytes, adjusted as a body that `writeCall` writes. */
  passCall(call: C, model: string, quirks: Quirks): Written;
}
