/**
 * Splits a message, streaming or not, into frames: the bytes, their events, and a normalized form for strict clients.
 */
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { objectReader } from '../../shared/json-reply.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { endsInBlankLine, type SseEvent } from '../../wire/sse.ts';
import { RepeatReader } from '../reply/repeat-event.ts';
import { brokeOff, isStreamed, unreadable, unreadableEvent } from '../reply/sse-reader.ts';
import { MessagesDecoder } from './read-stream.ts';

/** Tells the writer how to pass the frame on. */
export type MessagesFrameKind =
  /** `message_start`: its `message` holds the model name. */
  | 'start'
  /** A non-streaming message. */
  | 'whole'
  | 'event'
  /** Not passed on: the client could not read it, or has no use for it. */
  | 'useless';

export class MessageFrame implements Frame {
  readonly kind: MessagesFrameKind;
  readonly bytes: Uint8Array;
  readonly events: readonly ReplyEvent[];
  /** The position of the JSON object in the bytes. */
  readonly jsonStart: number;
  /** The normalized event, if the libraries would not accept the provider's. */
  readonly normalized: string | undefined;

  constructor(
    kind: MessagesFrameKind,
    bytes: Uint8Array,
    events: readonly ReplyEvent[],
    jsonStart = 0,
    normalized?: string,
  ) {
    this.kind = kind;
    this.bytes = bytes;
    this.events = events;
    this.jsonStart = jsonStart;
    this.normalized = normalized;
  }
}

const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_EVENTS: readonly ReplyEvent[] = [];

export function createReader(call: ChatCall, contentType: string): Reader {
  return isStreamed(call, contentType) ? new MessagesStreamReader(call) : jsonReader(call);
}

class MessagesStreamReader extends RepeatReader {
  readonly #decoder: MessagesDecoder;

  constructor(call: ChatCall) {
    super(deltaOf);
    this.#decoder = new MessagesDecoder(call);
  }

  protected override get isOver(): boolean {
    return this.#decoder.ended;
  }

  protected override grow(text: string): void {
    this.#decoder.grow(text);
  }

  override end(): Frame[] {
    const frames = this.frames();
    if (!this.#decoder.ended) frames.push(this.#broken(brokeOff()));
    return frames;
  }

  protected override broken(error: GatewayError): Frame[] {
    return this.#decoder.ended ? [] : [this.#broken(error)];
  }

  #broken(error: GatewayError, bytes: Uint8Array = NO_BYTES): MessageFrame {
    this.#decoder.ended = true;
    return new MessageFrame('useless', bytes, [{ type: 'error', error }]);
  }

  protected override frame(event: SseEvent): Frame {
    const { bytes } = event;
    if (this.#decoder.ended) return new MessageFrame('useless', bytes, NO_EVENTS);
    const like = this.likeFrame(bytes);
    if (like) return like;
    const { data } = event;
    if (data === undefined) return new MessageFrame('event', bytes, NO_EVENTS);
    const word = data.trim();
    if (word === '' || word === '[DONE]') return new MessageFrame('useless', bytes, NO_EVENTS);
    const payload = parsedJson(data);
    if (!isObject(payload)) return new MessageFrame('useless', bytes, [unreadableEvent()]);
    if (event.event === 'error' && payload.type !== 'error') payload.type = 'error';
    const isStart = payload.type === 'message_start';
    // Libraries fail on a second `message_start`. Inside a block it is an error, because the block never ends.
    if (isStart && this.#decoder.isInBlock) return this.#broken(brokeOff(), bytes);
    if (isStart && this.#decoder.started) return new MessageFrame('useless', bytes, NO_EVENTS);
    const events = this.#decoder.read(payload);
    const kind = isStart ? 'start' : 'event';
    const isPassed = event.event !== undefined && event.dataEnd > 0 && endsInBlankLine(bytes);
    this.learn(event, payload, events, isPassed);
    if (isPassed) {
      return new MessageFrame(kind, bytes, events, event.dataStart);
    }
    // Libraries ignore an event without a name or without a blank line after it.
    const head = `event: ${String(payload.type)}\ndata: `;
    return new MessageFrame(kind, bytes, events, head.length, `${head}${JSON.stringify(payload)}\n\n`);
  }
}

function deltaOf({ delta }: JsonObject): JsonObject | undefined {
  return isObject(delta) ? delta : undefined;
}

function jsonReader(call: ChatCall): Reader {
  return objectReader((payload, bytes) => [
    payload
      ? new MessageFrame('whole', bytes, new MessagesDecoder(call).readWhole(payload))
      : new MessageFrame('useless', bytes, [{ type: 'error', error: unreadable() }]),
  ]);
}
