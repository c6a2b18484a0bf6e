/**
 * Splits a reply (SSE stream, JSON array, or a single object) into frames: the bytes, their events, and a normalized
 * form for strict clients.
 */
import { CARRIAGE_RETURN as CR, LINE_FEED as LF } from '../../../canonical/ascii.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Reader } from '../../dialect.ts';
import { objectReader } from '../../shared/json-reply.ts';
import { parsedJson } from '../../shared/json-values.ts';
import { ArrayCutter, type ArrayElement } from '../../wire/json-array.ts';
import { endsInBlankLine, SseCutter, type SseEvent } from '../../wire/sse.ts';
import { brokeOff, unreadable, unreadableEvent } from '../reply/sse-reader.ts';
import { normalizeReply } from './normalize.ts';
import { GeminiDecoder } from './read-stream.ts';

/** Tells the writer how to pass the frame on. */
export type GeminiFrameKind =
  /** An SSE event in the form that client libraries expect. */
  | 'event'
  /** Replies whose framing the client could not read, or does not use. */
  | 'answers'
  /** A line end. */
  | 'blank'
  /** Not passed on: the client could not read it, or has no use for it. Mostly comments. */
  | 'useless'
  /** A non-streaming reply. */
  | 'whole';

const NOWHERE = { start: 0, end: 0 };

export class AnswerFrame implements Frame {
  readonly kind: GeminiFrameKind;
  readonly bytes: Uint8Array;
  readonly events: ReplyEvent[];
  /** The range of the JSON object in the bytes. */
  readonly jsonStart: number;
  readonly jsonEnd: number;
  /** Replies to send instead of the bytes. */
  readonly normalized: readonly JsonObject[] | undefined;

  constructor(
    kind: GeminiFrameKind,
    bytes: Uint8Array,
    events: ReplyEvent[] = [],
    json: { start: number; end: number } = NOWHERE,
    normalized?: readonly JsonObject[],
  ) {
    this.kind = kind;
    this.bytes = bytes;
    this.events = events;
    this.jsonStart = json.start;
    this.jsonEnd = json.end;
    this.normalized = normalized;
  }
}

const NO_BYTES: Uint8Array = new Uint8Array(0);
const decoder = new TextDecoder();

export function createReader(call: ChatCall, contentType: string): Reader {
  if (contentType.includes('event-stream')) return new GeminiStreamReader(call);
  if (!call.stream) return jsonReader(call);
  return contentType.includes('json') ? new ArrayReader(call) : new GeminiStreamReader(call);
}

/**
 * Shared by both streaming forms. Only the end of the bytes shows that a chunk was the last, so a chunk that may be the
 * last is held until the next arrives. It is then sent together with the end of the reply.
 */
class AnswerStream {
  readonly #decoder: GeminiDecoder;
  #held: AnswerFrame[] = [];
  isOver = false;

  constructor(call: ChatCall) {
    this.#decoder = new GeminiDecoder(call);
  }

  meaningOf(payloads: readonly JsonObject[]): ReplyEvent[] {
    const events: ReplyEvent[] = [];
    for (const payload of payloads) {
      events.push(...this.#decoder.read(payload));
      if (events.at(-1)?.type === 'error') break;
    }
    return events;
  }

  /** Returns the frames that can be sent now that `frame` has arrived. */
  release(frame: AnswerFrame): AnswerFrame[] {
    const last = frame.events.at(-1);
    if (last?.type === 'error' && !last.isLocal) this.isOver = true;
    const isBeside = frame.kind === 'blank' || frame.kind === 'useless';
    if (this.#held.length > 0 && isBeside && !this.isOver) {
      this.#held.push(frame);
      return [];
    }
    const frames = this.#held;
    this.#held = [];
    if (!this.isOver && !isBeside && this.#decoder.isFinished) this.#held.push(frame);
    else frames.push(frame);
    return frames;
  }

  /** The end of a stream whose bytes cannot be cut. Throws what is no `GatewayError`. */
  broken(thrown: unknown): AnswerFrame[] {
    if (!(thrown instanceof GatewayError)) throw thrown;
    if (this.isOver) return [];
    return this.release(new AnswerFrame('useless', NO_BYTES, [{ type: 'error', error: thrown }]));
  }

  /**
   * Returns the last frames with the end of the reply. `isWhole`: the reply is known to be complete even without finish
   * reasons.
   */
  end(isWhole = false): AnswerFrame[] {
    const frames = this.#held;
    if (this.isOver) return frames;
    this.isOver = true;
    const last = frames[0];
    if (last) {
      this.#decoder.finish(last.events);
      return frames;
    }
    if (isWhole) this.#decoder.closeWhole();
    const events: ReplyEvent[] = [];
    if (this.#decoder.isFinished) this.#decoder.finish(events);
    else events.push({ type: 'error', error: brokeOff() });
    return [new AnswerFrame('useless', NO_BYTES, events)];
  }
}

class GeminiStreamReader implements Reader {
  readonly #cutter = new SseCutter();
  readonly #stream: AnswerStream;

  constructor(call: ChatCall) {
    this.#stream = new AnswerStream(call);
  }

  read(chunk: Uint8Array): Frame[] {
    return this.#framesOf(() => this.#cutter.read(chunk));
  }

  end(): Frame[] {
    return [...this.#framesOf(() => this.#cutter.end()), ...this.#stream.end()];
  }

  #framesOf(cut: () => SseEvent[]): Frame[] {
    try {
      return cut().flatMap((event) => this.#stream.release(this.#frame(event)));
    } catch (thrown) {
      return this.#stream.broken(thrown);
    }
  }

  #frame(event: SseEvent): AnswerFrame {
    const { bytes, data } = event;
    if (this.#stream.isOver) return new AnswerFrame('useless', bytes);
    const text = data ?? bareJson(bytes);
    if (text === undefined) return new AnswerFrame(isBlank(bytes) ? 'blank' : 'useless', bytes);
    const word = text.trim();
    if (word === '' || word === '[DONE]') return new AnswerFrame('useless', bytes);
    const payloads = payloadsIn(word);
    if (!payloads) return new AnswerFrame('useless', bytes, [unreadableEvent()]);
    const normalized = payloads.map(normalizeReply);
    const events = this.#stream.meaningOf(payloads);
    const isPlain = event.dataEnd > 0 && event.event === undefined && endsInBlankLine(bytes);
    if (isPlain && !normalized.some((answer, index) => answer !== payloads[index])) {
      return new AnswerFrame('event', bytes, events, { start: event.dataStart, end: event.dataEnd });
    }
    return new AnswerFrame('answers', bytes, events, undefined, normalized);
  }
}

class ArrayReader implements Reader {
  readonly #cutter = new ArrayCutter();
  readonly #stream: AnswerStream;

  constructor(call: ChatCall) {
    this.#stream = new AnswerStream(call);
  }

  read(chunk: Uint8Array): Frame[] {
    let elements: ArrayElement[];
    try {
      elements = this.#cutter.read(chunk);
    } catch (thrown) {
      return this.#stream.broken(thrown);
    }
    return elements.flatMap((element) => this.#stream.release(this.#frame(element)));
  }

  end(): Frame[] {
    const { bytes, isBroken } = this.#cutter.end();
    const rest = new AnswerFrame(
      'useless',
      bytes,
      isBroken && !this.#stream.isOver ? [{ type: 'error', error: brokeOff() }] : [],
    );
    const isClosed = !isBroken && decoder.decode(bytes).trimEnd().endsWith(']');
    return [...(bytes.length > 0 ? this.#stream.release(rest) : []), ...this.#stream.end(isClosed)];
  }

  #frame({ bytes, start, end }: ArrayElement): AnswerFrame {
    if (this.#stream.isOver) return new AnswerFrame('useless', bytes);
    const payload = parsedJson(decoder.decode(bytes.subarray(start, end)));
    if (!isObject(payload)) return new AnswerFrame('useless', bytes, [{ type: 'error', error: unreadable() }]);
    const normalized = normalizeReply(payload);
    const events = this.#stream.meaningOf([payload]);
    return new AnswerFrame('answers', bytes, events, { start, end }, normalized === payload ? undefined : [normalized]);
  }
}

function jsonReader(call: ChatCall): Reader {
  return objectReader((payload, bytes) => {
    if (!payload) return [new AnswerFrame('useless', bytes, [{ type: 'error', error: unreadable() }])];
    const meaning = new GeminiDecoder(call);
    const events = meaning.read(payload);
    if (events.at(-1)?.type === 'error') return [new AnswerFrame('useless', bytes, events)];
    // The object is complete. Some providers omit the finish reason.
    meaning.closeWhole();
    if (!meaning.isFinished)
      return [new AnswerFrame('useless', bytes, [...events, { type: 'error', error: brokeOff() }])];
    meaning.finish(events);
    const normalized = normalizeReply(payload);
    return [new AnswerFrame('whole', bytes, events, NOWHERE, normalized === payload ? undefined : [normalized])];
  });
}

/** An error that ends a stream is plain JSON without SSE framing. */
function bareJson(bytes: Uint8Array): string | undefined {
  const text = decoder.decode(bytes).trim();
  return text.startsWith('{') ? text : undefined;
}

/** Some streams lack the blank lines between events. Then every line is an event. */
function payloadsIn(text: string): JsonObject[] | undefined {
  const payload = parsedJson(text);
  if (isObject(payload)) return [payload];
  const payloads = text.split('\n').map(parsedJson);
  return payloads.every(isObject) ? payloads : undefined;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === LF || byte === CR);
}
