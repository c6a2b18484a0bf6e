/** Non-streaming replies: collects the bytes of one JSON object, and writes one. */

import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../../canonical/reply.ts';
import type { Frame, ProviderDialect, Reader, Writer, Written } from '../dialect.ts';
import { joinBytes } from '../wire/json.ts';
import type { Quirks } from './quirks.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The largest reply that is accepted. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * A reader of one JSON object. `framesOf` is called once, after all bytes arrived; `body` is `undefined` if they are
 * not a JSON object, or too large.
 */
export function objectReader(framesOf: (body: JsonObject | undefined, bytes: Uint8Array) => Frame[]): Reader {
  return new WholeReader((bytes) => framesOf(bytes && parsedObject(bytes), bytes ?? NO_BYTES));
}

/** The same, for a reader that parses the bytes itself, or need not parse them. They are `undefined` if they are too large. */
export function bytesReader(framesOf: (bytes: Uint8Array | undefined) => Frame[]): Reader {
  return new WholeReader(framesOf);
}

class WholeReader implements Reader {
  readonly #framesOf: (bytes: Uint8Array | undefined) => Frame[];
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(framesOf: (bytes: Uint8Array | undefined) => Frame[]) {
    this.#framesOf = framesOf;
  }

  read(chunk: Uint8Array): Frame[] {
    this.#length += chunk.length;
    if (this.#length <= MAX_BYTES) this.#pieces.push(chunk);
    else this.#pieces.length = 0;
    return [];
  }

  end(): Frame[] {
    return this.#framesOf(this.#length > MAX_BYTES ? undefined : joinBytes(this.#pieces));
  }
}

/**
 * A reader for formats whose frames have no format of their own. `meaning` returns all events but the last and may
 * throw a GatewayError.
 */
export function jsonReader(meaning: (body: JsonObject) => ReplyEvent[]): Reader {
  return objectReader((body, bytes) => [{ bytes, events: eventsOf(body, meaning) }]);
}

function eventsOf(body: JsonObject | undefined, meaning: (body: JsonObject) => ReplyEvent[]): ReplyEvent[] {
  try {
    if (!body) throw unreadable();
    return [...meaning(body), { type: 'reply-end' }];
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return [{ type: 'error', error: thrown }];
  }
}

/** `undefined`: the bytes are not a JSON object. */
export function parsedObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(body) ? body : undefined;
  } catch {
    // No details: the bytes may contain private data.
    return undefined;
  }
}

/** The error for a reply that is not in its format. */
export function unreadable(): GatewayError {
  return new GatewayError('upstream_failed', 'The provider sent a reply that could not be read.');
}

/**
 * A writer of one JSON body. `body` writes a reply that came in another format; `pass` returns the bytes of a reply of
 * this format, changed where the client needs it.
 */
export function jsonWriter(
  body: (reply: Reply) => JsonObject,
  pass: (frame: Frame, reply: Reply) => Uint8Array,
): Writer {
  const reply = emptyReply();
  let passed = false;
  const take = (frame: Frame) => {
    for (const event of frame.events) addEvent(reply, event);
  };
  return {
    contentType: 'application/json',
    warnings: NO_WARNINGS,
    write(frame) {
      take(frame);
      return NO_BYTES;
    },
    pass(frame) {
      take(frame);
      passed = true;
      return pass(frame, reply);
    },
    end: () => (passed ? NO_BYTES : encoder.encode(JSON.stringify(body(reply)))),
    // Nothing has been sent yet, so the error becomes the response.
    fail: () => NO_BYTES,
    keepAlive: () => NO_BYTES,
  };
}

/** The parts of a format that only providers speak. */
export interface ProviderFormat<C extends Call> {
  name: string;
  kind: C['kind'];
  takesUploads?(call: C, model: string, quirks: Quirks): boolean;
  writeCall(call: C, model: string, quirks: Quirks): Written;
  /** Returns all events of a reply but the last. May throw a GatewayError. */
  meaning(body: JsonObject, call: C): ReplyEvent[];
  readError: ProviderDialect['readError'];
}

/** Makes a dialect of the parts. */
export function providerDialect<C extends Call>({ meaning, ...format }: ProviderFormat<C>): ProviderDialect<C> {
  return { ...format, reader: (call) => jsonReader((body) => meaning(body, call)) };
}
