/**
 * Splits a response, streaming or not, into frames: the bytes, their events, and a normalized form for strict clients.
 */
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { objectReader } from '../../shared/json-reply.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { readErrorObject } from '../../shared/openai-errors.ts';
import type { Quirks } from '../../shared/quirks.ts';
import type { SseEvent } from '../../wire/sse.ts';
import { brokeOff, isStreamed, SseReader, unreadable, unreadableEvent } from '../reply/sse-reader.ts';
import { ResponsesNormalizer } from './normalize.ts';
import { ResponsesDecoder } from './read-stream.ts';

/** Tells the writer how to pass the frame on. */
export type ResponsesFrameKind =
  | 'event'
  /** Comments, blank lines, `[DONE]`. */
  | 'blank'
  /** Not passed on: the client could not read it, or the gateway writes its own. */
  | 'useless'
  /** A non-streaming reply. */
  | 'whole';

export class ResponseFrame implements Frame {
  readonly kind: ResponsesFrameKind;
  readonly bytes: Uint8Array;
  readonly events: readonly ReplyEvent[];
  /** The event or the complete reply, possibly normalized. */
  readonly payload: JsonObject;
  /** The position of the payload's JSON in the bytes; -1 if the payload must be encoded anew. */
  readonly jsonStart: number;

  constructor(
    kind: ResponsesFrameKind,
    bytes: Uint8Array,
    events: readonly ReplyEvent[],
    payload: JsonObject = NO_PAYLOAD,
    jsonStart = 0,
  ) {
    this.kind = kind;
    this.bytes = bytes;
    this.events = events;
    this.payload = payload;
    this.jsonStart = jsonStart;
  }
}

const NO_PAYLOAD: JsonObject = {};
const NO_BYTES = new Uint8Array(0);
const NO_EVENTS: readonly ReplyEvent[] = [];

export function createReader(call: ChatCall, contentType: string, quirks: Quirks): Reader {
  return isStreamed(call, contentType) ? new ResponsesStreamReader(call, quirks) : jsonReader(call, quirks);
}

/** Events on which the official library's helper throws. The completed items contain all their content. */
const BREAKS_LIBRARY = /^response\.apply_patch_call_operation_diff\./;

class ResponsesStreamReader extends SseReader {
  readonly #decoder: ResponsesDecoder;
  readonly #normalizer = new ResponsesNormalizer();
  #over = false;

  constructor(call: ChatCall, quirks: Quirks) {
    super();
    this.#decoder = new ResponsesDecoder(call, quirks);
  }

  override end(): Frame[] {
    const frames = this.frames();
    if (this.#over) return frames;
    this.#over = true;
    frames.push(new ResponseFrame('useless', NO_BYTES, [{ type: 'error', error: brokeOff() }]));
    return frames;
  }

  protected override broken(error: GatewayError): Frame[] {
    if (this.#over) return [];
    this.#over = true;
    return [new ResponseFrame('useless', NO_BYTES, [{ type: 'error', error }])];
  }

  protected override frame(event: SseEvent): Frame {
    const { bytes, data } = event;
    const payload = data === undefined ? undefined : parsedJson(data);
    // Everything after the end is ignored.
    if (this.#over || data === undefined || isNothing(data)) return new ResponseFrame('blank', bytes, NO_EVENTS);
    if (!isObject(payload)) return new ResponseFrame('useless', bytes, [unreadableEvent()]);
    if (typeof payload.type !== 'string' && event.event !== undefined) payload.type = event.event;
    const isNormalized = this.#normalizer.normalize(payload) || event.dataEnd === 0;
    const events = this.#eventsOf(payload);
    const isUseless = events.at(-1)?.type === 'error' || BREAKS_LIBRARY.test(String(payload.type));
    return new ResponseFrame(
      isUseless ? 'useless' : 'event',
      bytes,
      events,
      payload,
      isNormalized ? -1 : event.dataStart,
    );
  }

  #eventsOf(payload: JsonObject): ReplyEvent[] {
    const { type, response } = payload;
    switch (type) {
      case 'response.completed':
      case 'response.incomplete':
      case 'response.cancelled':
        this.#over = true;
        return isObject(response) ? finalEvents(this.#decoder, response) : [{ type: 'error', error: unreadable() }];
      case 'response.failed':
        this.#over = true;
        return isObject(response)
          ? [...this.#decoder.finish(response), errorOf(response.error)]
          : [{ type: 'error', error: unreadable() }];
      case 'error': {
        this.#over = true;
        const { type: _, ...flat } = payload;
        return [errorOf(payload.error ?? flat)];
      }
    }
    if (type !== undefined || payload.error === undefined) return this.#decoder.read(payload);
    this.#over = true;
    return [errorOf(payload.error)];
  }
}

/** Some providers end the stream with the word that ends a chat completion. */
function isNothing(data: string): boolean {
  const word = data.trim();
  return word === '' || word === '[DONE]';
}

function jsonReader(call: ChatCall, quirks: Quirks): Reader {
  const meaning = new ResponsesDecoder(call, quirks);
  return objectReader((response, bytes) => {
    if (!response) return [new ResponseFrame('useless', bytes, [{ type: 'error', error: unreadable() }])];
    if (!Array.isArray(response.output)) {
      return [new ResponseFrame('useless', bytes, [errorOf(response.error ?? response)])];
    }
    const events = finalEvents(meaning, response);
    const kind = events.at(-1)?.type === 'error' ? 'useless' : 'whole';
    return [new ResponseFrame(kind, bytes, events, response)];
  });
}

function finalEvents(meaning: ResponsesDecoder, response: JsonObject): ReplyEvent[] {
  const events = meaning.finish(response);
  if (response.status === 'failed') return [...events, errorOf(response.error)];
  return [...events, ...meaning.ending(response)];
}

const REQUESTS_FAULT = /^(invalid_|context_length|image_|unsupported_|empty_image|failed_to_download)/;

/** Error codes in a stream have no HTTP status. */
function errorOf(error: unknown): ReplyEvent {
  if (!isObject(error)) {
    return { type: 'error', error: new GatewayError('upstream_failed', "The model's reply failed at its provider.") };
  }
  const { code } = error;
  const word = typeof code === 'string' ? code : '';
  const status = word === 'rate_limit_exceeded' ? 429 : REQUESTS_FAULT.test(word) ? 400 : undefined;
  return { type: 'error', error: readErrorObject(status === undefined ? error : { ...error, status_code: status }) };
}
