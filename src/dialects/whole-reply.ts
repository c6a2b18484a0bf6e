/** What the formats share whose replies always come whole: collecting the bytes, and writing one body. */

import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type JsonObject } from '../canonical/json.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../canonical/reply.ts';
import type { Frame, Quirks, Reader, VendorDialect, Writer, Written } from './dialect.ts';
import { joinBytes } from './json.ts';

const NO_BYTES = new Uint8Array();
const NO_WARNINGS: readonly string[] = [];
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A reader of one JSON object; `meaning` gives its events but for the last, and may throw a GatewayError. */
export function wholeReader(meaning: (body: JsonObject) => ReplyEvent[]): Reader {
  const chunks: Uint8Array[] = [];
  return {
    read(chunk) {
      chunks.push(chunk);
      return [];
    },
    end() {
      const bytes = joinBytes(chunks);
      return [{ bytes, events: eventsOf(bytes, meaning) }];
    },
  };
}

function eventsOf(bytes: Uint8Array, meaning: (body: JsonObject) => ReplyEvent[]): ReplyEvent[] {
  try {
    return [...meaning(parsed(bytes)), { type: 'reply-end' }];
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return [{ type: 'error', error: thrown }];
  }
}

function parsed(bytes: Uint8Array): JsonObject {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes));
    if (isObject(body)) return body;
  } catch {
    // Told below: what came may quote what it should not.
  }
  throw unreadable();
}

/** A reply that is not in its format. */
export function unreadable(): GatewayError {
  return new GatewayError('upstream_failed', "The model's vendor sent a reply that could not be read.");
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

/** What a format that only vendors speak consists of. */
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
