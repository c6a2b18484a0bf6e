/**
 * Splits a chat completion, streaming or not, into frames: the bytes, their events, and a normalized form for strict
 * clients.
 */
import type { ChatCall } from '../../../canonical/call.ts';
import type { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { bytesReader, parsedObject } from '../../shared/json-reply.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { readErrorObject } from '../../shared/openai-errors.ts';
import type { Quirks } from '../../shared/quirks.ts';
import type { SseEvent } from '../../wire/sse.ts';
import { RepeatReader } from '../reply/repeat-event.ts';
import { brokeOff, isStreamed, unreadable, unreadableEvent } from '../reply/sse-reader.ts';
import { ChatNormalizer } from './normalize.ts';
import { ChatDecoder } from './read-stream.ts';

/** Tells the writer how to pass the frame on. */
export type ChatFrameKind =
  | 'chunk'
  /** A chunk with usage only. Passed on if the client asked for usage. */
  | 'usage'
  /** `[DONE]`. */
  | 'done'
  /** Comments and blank lines. */
  | 'blank'
  /** Not passed on: the client could not read it, or has no use for it. */
  | 'useless'
  /** A non-streaming reply. */
  | 'whole';

export class ChatFrame implements Frame {
  readonly kind: ChatFrameKind;
  readonly bytes: Uint8Array;
  readonly events: readonly ReplyEvent[];
  /** The position of the JSON object in the bytes. */
  readonly jsonStart: number;
  /** Normalized objects to send instead of the bytes. */
  readonly normalized: readonly JsonObject[] | undefined;
  /** It has `usage: null`, which strict libraries reject if they did not request usage. */
  readonly hasNullUsage: boolean;

  constructor(
    kind: ChatFrameKind,
    bytes: Uint8Array,
    events: readonly ReplyEvent[],
    jsonStart = 0,
    normalized?: readonly JsonObject[],
    hasNullUsage = false,
  ) {
    this.kind = kind;
    this.bytes = bytes;
    this.events = events;
    this.jsonStart = jsonStart;
    this.normalized = normalized;
    this.hasNullUsage = hasNullUsage;
  }
}

const NO_BYTES = new Uint8Array(0);
const NO_EVENTS: readonly ReplyEvent[] = [];
const DONE = '[DONE]';

export function createReader(call: ChatCall, contentType: string, quirks: Quirks): Reader {
  return isStreamed(call, contentType)
    ? new ChatStreamReader(call, quirks)
    : bytesReader((bytes) => [wholeFrame(bytes && parsedObject(bytes), bytes ?? NO_BYTES, call, quirks)]);
}

class ChatStreamReader extends RepeatReader {
  readonly #decoder: ChatDecoder;
  readonly #repair: ChatNormalizer;
  /** The members that every chunk repeats, for chunks that the gateway adds. */
  #envelope: JsonObject = {};
  readonly #wantsUsage: boolean;
  /**
   * A usage chunk that arrived before all choices ended. It is sent last, because the library reads the usage of the
   * last chunk.
   */
  #heldUsage: JsonObject | undefined;
  #over = false;

  constructor(call: ChatCall, quirks: Quirks) {
    super(deltaOf);
    this.#decoder = new ChatDecoder(call, quirks);
    this.#repair = new ChatNormalizer(quirks);
    this.#wantsUsage = call.wantsUsage === true;
  }

  protected override get isOver(): boolean {
    return this.#over;
  }

  override end(): Frame[] {
    const frames = this.frames();
    if (this.#over) return frames;
    this.#over = true;
    const last: ReplyEvent = this.#decoder.isFinished ? { type: 'reply-end' } : { type: 'error', error: brokeOff() };
    frames.push(new ChatFrame('blank', NO_BYTES, [last]));
    return frames;
  }

  protected override broken(error: GatewayError): Frame[] {
    if (this.#over) return [];
    this.#over = true;
    return [new ChatFrame('useless', NO_BYTES, [{ type: 'error', error }])];
  }

  protected override frame(event: SseEvent): Frame {
    const { bytes } = event;
    if (this.#over) return new ChatFrame('useless', bytes, NO_EVENTS);
    const like = this.likeFrame(bytes);
    if (like) return like;
    const { data } = event;
    if (data === undefined) return new ChatFrame('blank', bytes, NO_EVENTS);
    const payload = parsedJson(data);
    if (isObject(payload)) return this.#chunk(event, payload);
    const word = data.trim();
    if (word === '') return new ChatFrame('useless', bytes, NO_EVENTS);
    const error = Array.isArray(payload) && isObject(payload[0]) ? errorIn(payload[0]) : undefined;
    if (word !== DONE && !error) return new ChatFrame('useless', bytes, [unreadableEvent()]);
    this.#over = true;
    if (error) return new ChatFrame('useless', bytes, [error]);
    return this.#done(bytes, data === DONE && event.dataEnd > 0 && event.event === undefined);
  }

  #chunk(event: SseEvent, payload: JsonObject): Frame {
    const { bytes } = event;
    const error = errorIn(payload) ?? (event.event === 'error' ? failure(payload) : undefined);
    if (error) {
      this.#over = true;
      // Some providers report usage in the same chunk as an error.
      return new ChatFrame('useless', bytes, [...this.#usageOf(payload), error]);
    }
    const isNormalized = this.#repair.chunk(payload);
    const events = this.#decoder.read(payload);
    this.#envelope = payload;
    let kind: ChatFrameKind = 'chunk';
    if (Array.isArray(payload.choices) && payload.choices.length === 0) {
      if (isObject(payload.usage)) kind = 'usage';
      // Azure's first chunk has its content filter results and neither id nor model.
      else if (payload.id === '' && payload.model === '') kind = 'useless';
    }
    if (kind === 'usage' && this.#decoder.isUnfinished) {
      this.#heldUsage = payload;
      this.forget();
      return new ChatFrame('useless', bytes, events);
    }
    const held = this.#takeHeldUsage();
    const normalized = held || isNormalized || event.dataEnd === 0 ? [...(held ? [held] : []), payload] : undefined;
    this.learn(event, payload, events, normalized === undefined && event.event === undefined);
    return new ChatFrame(kind, bytes, events, event.dataStart, normalized, payload.usage === null);
  }

  #takeHeldUsage(): JsonObject | undefined {
    const held = this.#heldUsage;
    this.#heldUsage = undefined;
    return this.#wantsUsage ? held : undefined;
  }

  #usageOf(payload: JsonObject): ReplyEvent[] {
    if (!isObject(payload.usage)) return [];
    return this.#decoder.read({ usage: payload.usage }).filter((event) => event.type === 'usage');
  }

  #done(bytes: Uint8Array, isWellFormed: boolean): Frame {
    const events: ReplyEvent[] = [];
    const { id, object, created, model } = this.#envelope;
    const held = this.#takeHeldUsage();
    const normalized: JsonObject[] = this.#decoder.finishAll(events).map(([index, finish_reason]) => ({
      ...(id !== undefined && { id }),
      object: object ?? 'chat.completion.chunk',
      ...(created !== undefined && { created }),
      ...(model !== undefined && { model }),
      choices: [{ index, delta: {}, logprobs: null, finish_reason }],
    }));
    if (held) normalized.push(held);
    events.push({ type: 'reply-end' });
    return new ChatFrame('done', bytes, events, 0, isWellFormed && normalized.length === 0 ? undefined : normalized);
  }
}

function wholeFrame(payload: JsonObject | undefined, bytes: Uint8Array, call: ChatCall, quirks: Quirks): ChatFrame {
  if (!payload) return new ChatFrame('useless', bytes, [{ type: 'error', error: unreadable() }]);
  const error = errorIn(payload) ?? (Array.isArray(payload.choices) ? undefined : failure(payload));
  if (error) return new ChatFrame('useless', bytes, [error]);
  const isNormalized = new ChatNormalizer(quirks).whole(payload);
  const meaning = new ChatDecoder(call, quirks);
  const events = meaning.read(payload, true);
  meaning.finishAll(events);
  events.push({ type: 'reply-end' });
  return new ChatFrame('whole', bytes, events, 0, isNormalized ? [payload] : undefined);
}

/** The error in a body with status 200. `error: null` is no error. */
function errorIn(payload: JsonObject): ReplyEvent | undefined {
  const { error } = payload;
  if (!isObject(error) && (typeof error !== 'string' || error === '')) return undefined;
  return { type: 'error', error: readErrorObject(error) };
}

/** The error for an object that is certainly one. */
function failure(payload: JsonObject): ReplyEvent {
  return { type: 'error', error: readErrorObject(payload) };
}

/** The delta, if there is one choice. */
function deltaOf({ choices }: JsonObject): JsonObject | undefined {
  const only: Json | undefined = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  return isObject(only) && isObject(only.delta) ? only.delta : undefined;
}
