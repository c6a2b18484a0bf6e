/**
 * The contract of an API format (dialect): it reads and writes requests and replies. No I/O, no clock, no state between
 * calls.
 */
import type { Call, Media } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import type { FinishReason, ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Quirks } from './shared/quirks.ts';
import type { LimitHeaders } from './shared/rate-limit-headers.ts';
import type { Form } from './wire/multipart.ts';

/** A client's request as the HTTP server passes it on. Header names are lower case. */
export interface WireRequest {
  body: Uint8Array;
  headers: Pick<Headers, 'get' | 'has'>;
  /** `false`: there is no header of the gateway's own (`x-modelport-…`) among them. */
  hasOwnHeaders?: boolean;
  /** Path parameters, for example `model` on the Gemini paths. */
  path: { [name: string]: string };
  query: URLSearchParams;
  /** A multipart body, parsed while it arrived. `body` is empty then. */
  form?: Form;
  /** Deletes the uploaded files. Called when they are no longer needed. */
  release?(): void;
}

/** An HTTP response as a dialect writes it. */
export interface WireReply {
  status: number;
  headers: { [name: string]: string };
  body: string;
}

/** What frames have in common that differ in their text alone: they continue this part. */
export interface Likeness {
  readonly choice: number;
  readonly part: number;
}

/**
 * A piece of a provider's reply: its bytes, and the events that they mean. `events` is decoded when it is first read;
 * read the frames in order.
 */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly events: readonly ReplyEvent[];
  /** Set if the frame only continues a text: `events` is one `part-delta`, which need not be built. */
  readonly like?: Likeness;
  /** That text; '' without `like`. */
  readonly text?: string;
}

/** What decides the cost of a whole reply of one text, found in its bytes without building the reply. */
export interface PlainReply {
  readonly usage: Usage;
  readonly finish: FinishReason;
  /** The model's name in it. */
  readonly model: string;
}

/** Splits a provider's bytes into frames. The frames do not depend on how the bytes are split into chunks. */
export interface Reader {
  /** The media type of the audio, for a reader that finds raw audio in another format's reply. Set once it is known. */
  readonly contentType?: string | undefined;
  read(chunk: Uint8Array): Frame[];
  /**
   * Call it after the last chunk. Returns the remaining frames: the last event is `reply-end` if the reply is complete,
   * `error` if it broke off.
   */
  end(): Frame[];
}

/** Turns frames into the client's bytes. An empty array means that there is nothing to send. */
export interface Writer {
  /** The `content-type` header of the response. */
  readonly contentType: string;
  /**
   * One sentence for each thing so far that the client's format cannot express. In a stream the headers have already
   * left, so a format with comments sends the warnings in a comment before the stream ends.
   */
  readonly warnings: readonly string[];
  /** Writes the events of a frame that came in another format. */
  write(frame: Frame): Uint8Array;
  /**
   * Passes on a frame that came in this format: its own bytes, with the caller's model name, without what the client
   * did not ask for, and normalized.
   */
  pass(frame: Frame): Uint8Array;
  /** The last bytes of a complete reply: the terminator of a stream, or a whole JSON body. */
  end(): Uint8Array;
  /** Tells the client, in its format, that the reply broke off. Writes no terminator. */
  fail(error: GatewayError): Uint8Array;
  /**
   * Bytes to send after `fail`, in a separate write, before the connection is closed. Only for formats whose client
   * libraries treat every properly ended stream as complete, even after an error event.
   */
  afterFail?(error: GatewayError): Uint8Array;
  /**
   * Sets the usage that is charged when the provider reported none. Called before the last frame is written or passed
   * on.
   */
  bill?(usage: Usage): void;
  /** Comments in its streams are errors for a client library of the format. */
  readonly refusesComments?: true;
  /** Bytes without meaning that keep an idle stream open. */
  keepAlive(): Uint8Array;
  /**
   * The complete reply as the client received it, after it ended or failed. Only for formats whose server stores
   * replies.
   */
  kept?(): JsonObject | undefined;
}

/** A request's own items and its reply, as stored for the next turn. */
export interface KeptTurn {
  input: JsonObject[];
  output: JsonObject[];
  /** The reply without its `output`. */
  reply: JsonObject;
  /** The owner of the reasoning signatures in `output`. Present only if no other provider accepts them. */
  owner?: string;
}

/** A format whose server stores conversations: what is stored of a call, and how a later call continues it. */
export interface Keeping<C extends Call = Call> {
  /** The prefix of the ids of stored replies. */
  readonly idPrefix: string;
  /** Throws `invalid_request` if the call asks the server for a feature that is not supported here. */
  check(call: C): void;
  keep(call: C, reply: JsonObject): KeptTurn;
  /**
   * Returns the call with the items of the previous turns, and with the items that it references by id; those are in
   * `before` or `known`. Throws `not_found` if an id is unknown.
   */
  resume(call: C, before: readonly KeptTurn[], known: readonly KeptTurn[]): C;
  /** Writes a stored reply as a stream of the events after `startingAfter`. */
  replay(reply: JsonObject, startingAfter: number): Uint8Array;
}

/** A large body that is not encoded yet. */
export interface LateBody {
  /** Sets a top-level member; `undefined` removes it. */
  set(name: string, value: Json | undefined): void;
  encode(): Uint8Array;
  /** Encodes in pieces, so that other requests are served in between. */
  encodeInPieces(): Promise<Uint8Array>;
}

/**
 * What a dialect wrote for a call: the body to send, and a warning (one sentence) for each thing that it cannot
 * express.
 */
export interface Written {
  body: Uint8Array;
  /** A large body, used instead of `body`. It is encoded when it is sent. */
  late?: LateBody;
  /**
   * A multipart form, sent instead of `body`. The sender chooses the boundary, which clients must not be able to guess.
   */
  form?: Form;
  warnings: readonly string[];
}

/** A format that providers speak. */
export interface ProviderDialect<C extends Call = Call> {
  readonly name: string;
  readonly kind: C['kind'];
  /** Its requests are chat requests on the wire, so a provider that offers it can also be asked in a chat format. */
  readonly inConversation?: true;
  /** The format has one choice per reply. Several choices are requested with several calls. */
  readonly singleChoice?: true;
  /** The kinds of media that the provider fetches by URL. All others are sent inline. */
  readonly supportsMediaUrls?: readonly Media['kind'][];
  /** Whether the model signs its reasoning and requires the signatures in the next turn. */
  wantsSignatures?(call: C, model: string, quirks: Quirks): boolean;
  /** Whether the request is a multipart form in which uploaded files stay files. Otherwise they are sent inline. */
  takesUploads?(call: C, model: string, quirks: Quirks): boolean;
  /** Reasoning signatures are valid only at the configured provider that issued them. */
  readonly hasBoundSignatures?: true;
  writeCall(call: C, model: string, quirks: Quirks): Written;
  reader(call: C, contentType: string, quirks: Quirks): Reader;
  /** Reads an error response. Decides whether another target may succeed. */
  readError(status: number, headers: Headers, body: Uint8Array): GatewayError;
}

/** A format that clients speak too. */
export interface Dialect<C extends Call = Call> extends ProviderDialect<C> {
  /** Clients of the format send reasoning signatures back. A missing one was left out on purpose. */
  readonly returnsSignatures?: true;
  readonly keeping?: Keeping<C>;
  /** Throws `invalid_request` with `param`. */
  readCall(request: WireRequest): C;
  writer(call: C): Writer;
  /**
   * Reads a non-streaming reply that a client of the format can be sent as it is, but for the model's name. `undefined`: `reader` has to
   * decide. Where it answers, `reader` finds the same.
   */
  plainReply?(bytes: Uint8Array, quirks: Quirks): PlainReply | undefined;
  writeError(error: GatewayError, requestId: string): WireReply;
  /** Writes the headers with the remaining limits of the caller. Default: OpenAI's header names. */
  readonly limitHeaders?: LimitHeaders;
  /**
   * The client's own body for a provider of the same dialect: its bytes, adjusted to the provider in the same way as a
   * body from `writeCall`.
   */
  passCall(call: C, model: string, quirks: Quirks): Written;
}
