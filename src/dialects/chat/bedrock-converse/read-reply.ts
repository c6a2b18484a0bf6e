/** Splits a reply, streaming or not, into frames: the bytes and their events. */
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { objectReader } from '../../shared/json-reply.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { EVENT_STREAM_TYPE, EventStreamCutter, type EventStreamMessage } from '../../wire/event-stream.ts';
import { brokeOff, unreadable } from '../reply/sse-reader.ts';
import { readException } from './errors.ts';
import { ConverseDecoder } from './read-stream.ts';

const NO_BYTES = new Uint8Array();
const decoder = new TextDecoder();

export function createReader(call: ChatCall, contentType: string): Reader {
  return contentType.includes(EVENT_STREAM_TYPE) ? new ConverseStreamReader(call) : jsonReader(call);
}

class ConverseStreamReader implements Reader {
  readonly #cutter = new EventStreamCutter();
  readonly #decoder: ConverseDecoder;

  constructor(call: ChatCall) {
    this.#decoder = new ConverseDecoder(call);
  }

  read(chunk: Uint8Array): Frame[] {
    try {
      return this.#cutter.read(chunk).map((message) => this.#frame(message));
    } catch (thrown) {
      return this.#broken(thrown);
    }
  }

  end(): Frame[] {
    try {
      this.#cutter.end();
    } catch (thrown) {
      return this.#broken(thrown);
    }
    const events = this.#decoder.over();
    if (!this.#decoder.ended) return this.#broken(brokeOff());
    return events.length > 0 ? [{ bytes: NO_BYTES, events }] : [];
  }

  #broken(thrown: unknown): Frame[] {
    if (!(thrown instanceof GatewayError)) throw thrown;
    if (this.#decoder.ended) return [];
    this.#decoder.ended = true;
    return [{ bytes: NO_BYTES, events: [{ type: 'error', error: thrown }] }];
  }

  #frame({ bytes, headers, payload }: EventStreamMessage): Frame {
    return { bytes, events: this.#decoder.ended ? [] : this.#eventsOf(headers, payload) };
  }

  #eventsOf(headers: EventStreamMessage['headers'], payload: Uint8Array): ReplyEvent[] {
    if (headers[':message-type'] !== 'event') {
      this.#decoder.ended = true;
      const type = headers[':exception-type'] ?? headers[':error-code'] ?? '';
      return [{ type: 'error', error: readException(type, payload) }];
    }
    const parsed = parsedJson(decoder.decode(payload));
    if (isObject(parsed)) return this.#decoder.read(headers[':event-type'] ?? '', parsed);
    this.#decoder.ended = true;
    return [{ type: 'error', error: unreadable() }];
  }
}

function jsonReader(call: ChatCall): Reader {
  return objectReader((reply, bytes) => [
    { bytes, events: reply ? new ConverseDecoder(call).readWhole(reply) : [{ type: 'error', error: unreadable() }] },
  ]);
}
