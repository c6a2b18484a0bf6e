/** What the formats share whose replies come whole: collecting the bytes, and writing one body. */

import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../../canonical/reply.ts';
import type { Frame, Quirks, Reader, VendorDialect, Writer, Written } from '../dialect.ts';
import { joinBytes } from '../wire/json.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What no reply is larger than. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A reader of one JSON object, whose frames `framesOf` makes when all of it has come; `undefined`: what came is none, or too large. */
export function objectReader(framesOf: (body: JsonObject | undefined, bytes: Uint8Array) => Frame[]): Reader {
  return new ObjectReader(framesOf);
}

class ObjectReader implements Reader {
  readonly #framesOf: (body: JsonObject | undefined, bytes: Uint8Array) => Frame[];
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(framesOf: (body: JsonObject | undefined, bytes: Uint8Array) => Frame[]) {
    this.#framesOf = framesOf;
  }

  read(chunk: Uint8Array): Frame[] {
    this.#length += chunk.length;
    if (this.#length <= MAX_BYTES) this.#pieces.push(chunk);
    else this.#pieces.length = 0;
    return [];
  }

  end(): Frame[] {
    const bytes = joinBytes(this.#pieces);
    return this.#framesOf(this.#length > MAX_BYTES ? undefined : parsed(bytes), bytes);
  }
}

/** The same of a format without frames of its own; `meaning` gives the events but for the last, and may throw a GatewayError. */
export function wholeReader(meaning: (body: JsonObject) => ReplyEvent[]): Reader {
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

function parsed(bytes: Uint8Array): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(body) ? body : undefined;
  } catch {
    // What came may quote what it should not: nobody is told it.
    return undefined;
  }
}

/** A reply that is not in its format. */
export function unreadable(): GatewayError {
  return new GatewayError('upstream_failed', 'The provider sent a reply that could not be read.');
}

/**
 * A writer of one JSON body: `body` writes a reply of any format; `pass` gives the bytes of a reply of this one, with
 * what the client needs otherwise.
 */
export function wholeWriter(
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
    // A whole reply fails before any of it has left.
    fail: () => NO_BYTES,
    keepAlive: () => NO_BYTES,
  };
}

/** What a format that only providers speak consists of. */
export interface VendorFormat<C extends Call> {
  name: string;
  kind: C['kind'];
  takesUploads?(call: C, model: string, quirks: Quirks): boolean;
  writeCall(call: C, model: string, quirks: Quirks): Written;
  /** The events of a reply but for the last; may throw a GatewayError. */
  meaning(body: JsonObject, call: C): ReplyEvent[];
  readError: VendorDialect['readError'];
}

/** Such a format as a dialect. */
export function vendorDialect<C extends Call>({ meaning, ...format }: VendorFormat<C>): VendorDialect<C> {
  return { ...format, reader: (call) => wholeReader((body) => meaning(body, call)) };
}
