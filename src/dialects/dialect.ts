/** The contract of a wire format: both directions, no I/O, no clock, no state between calls. */
import type { Call, Media } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { ImageBounds } from '../canonical/image-size.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
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

/** A provider's deviations from a dialect, as data. What a dialect does not know of it ignores. */
export interface Quirks {
  /** Request members the provider refuses: dropped, with a warning. */
  rejects?: readonly string[];
  /** Request members the provider takes at one value alone: any other is dropped, with a warning. */
  fixed?: { readonly [member: string]: Json };
  /** Members of a message (`name` …) the provider refuses: dropped, with a warning. */
  messageRejects?: readonly string[];
  /** Request members the provider has under another name. */
  renames?: { readonly [member: string]: string };
  /** The same for models whose upstream name matches `match` (a regular expression); rows apply in order. */
  models?: readonly { match: string; quirks: Quirks }[];
  /** How the provider is asked for usage in a stream: by `stream_options` (the default), always there, or not to be had. */
  streamUsage?: 'ask' | 'always' | 'never';
  /** The provider counts reasoning beside `completion_tokens`, not inside. */
  reasoningBesideOutput?: boolean;
  /** The provider shows reasoning in `total_tokens` alone: what that holds beyond input and output is reasoning. */
  reasoningInTotal?: boolean;
  /** Where the provider takes reasoning back in a conversation; absent: `reasoning_content`. */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'thinking-parts' | 'none';
  /** The word for system prompts above `system` where the provider does not know `developer`. */
  developerRole?: 'system' | 'developer';
  /** Tool call ids must match this form: others are mapped. */
  toolCallIds?: 'any' | 'nine-alphanumeric';
  /** Tools that take free text: the provider has them (the default), or is given functions with one text. */
  freeTextTools?: 'native' | 'function';
  /** The provider takes marks after which it caches (`prompt_cache_breakpoint`). */
  supportsCacheBreakpoints?: true;
  /** Structured output the provider takes: absent means all. */
  structuredOutput?: 'json-schema' | 'json' | 'none';
  /** Media the provider fetches itself where a call names their address; absent: what its dialect says. */
  takesUrls?: readonly Media['kind'][];
  /** How the provider takes schemas where the format has two ways: as JSON Schema (the default), or in a subset of OpenAPI's. */
  schemas?: 'json-schema' | 'openapi';
  /** Sizes the provider draws (`1024x1024`): another is taken as the nearest; absent: any. */
  imageSizes?: readonly string[];
  /** The same where they are many: a size outside is taken as the nearest inside. */
  imageBounds?: ImageBounds;
  /** Words for how fine an image is (`2K`) that the provider takes in the place of a size. */
  imageFineness?: readonly string[];
  /** The provider wants to be told a size: where the call names none, the first of those it draws. */
  needsImageSize?: true;
  /** The provider is told width and height apart. */
  imageSides?: true;
  /** The provider is told an image's shape alone, as one of these. */
  imageRatios?: readonly string[];
  /** How fine an image is, beside its shape: the provider's words by ours, for its member `resolution`. */
  imageResolutions?: { readonly [fineness: string]: string };
  /** The provider's word for images in base64, where it is not `b64_json`. */
  base64Word?: string;
  /** The model draws anew and takes no images. */
  drawsAnew?: true;
  /** How many images the provider draws in one call; absent: any number. */
  mostImages?: number;
  /** The provider takes images to change in a form, not in JSON; `files`: in either, and what came as files goes as files. */
  editForm?: true | 'files';
  /**
   * How JSON holds such images where it is not as `images` of `{image_url}`: as `{type, url}`, or as addresses alone; those
   * in `image`, in `image`, `image2` …, in a member for one of them, or in a list of them all.
   */
  editImages?: 'typed' | 'bare' | 'numbered' | 'image_url' | 'reference_images';
  /** How many texts the provider embeds in one call; absent: any number. */
  mostInputs?: number;
  /** The provider writes vectors as numbers alone, whatever is asked. */
  plainVectors?: true;
  /** Whether the provider tells speech in events: they say what it cost, or (`never`) it has none, or (`stream`) it has them where it is asked for a stream. Absent: it is asked for what the client wants. */
  speechEvents?: 'priced' | 'never' | 'stream';
  /** The provider's bare samples are float32, where others' are whole numbers of 16 bits. */
  floatSamples?: true;
  /** The provider writes transcripts as JSON alone, of segments with their times or of one text: other formats are made of it. */
  transcripts?: 'segments' | 'text';
  /** Base64 from the provider is of whole numbers from -128 to 127, not of float32. */
  wholeNumbers?: true;
}

/** A format as providers are spoken to in it. */
export interface VendorDialect<C extends Call = Call> {
  readonly name: string;
  readonly kind: C['kind'];
  /** Its requests are those of a conversation on the wire: the provider's model may be asked in one as well. */
  readonly inConversation?: true;
  /** The format has one choice a reply: several choices are asked for in several calls. */
  readonly singleChoice?: true;
  /** Media that may be named by address, to be fetched by the provider; all others are handed over inline. */
  readonly takesUrls?: readonly Media['kind'][];
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
