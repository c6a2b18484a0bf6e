/**
 * Recognizes an event that differs from an earlier one only in its text. Most events of a stream do, and parsing is
 * the largest part of an event's cost.
 */
import { BACKSLASH, QUOTE } from '../../../canonical/ascii.ts';
import { asciiIn, bytesEqualAt, sliceBytes, textIn } from '../../../canonical/bytes.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame, Likeness } from '../../dialect.ts';
import type { SseEvent } from '../../wire/sse.ts';
import { SseReader } from './sse-reader.ts';

type PartDelta = Extract<ReplyEvent, { type: 'part-delta' }>;

/** The event that others are compared with. */
export interface Example extends Likeness {
  /** Its bytes before its text, and after it, up to the blank line. */
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** The position of the JSON object in the bytes. */
  readonly jsonStart: number;
  /** It has `usage: null`. */
  readonly hasNullUsage: boolean;
}

/** A frame that differs from an example only in its text. Its events are built if somebody reads them. */
export class LikeFrame implements Frame {
  readonly bytes: Uint8Array;
  readonly like: Example;
  readonly text: string;
  #events: readonly ReplyEvent[] | undefined;

  constructor(bytes: Uint8Array, like: Example, text: string) {
    this.bytes = bytes;
    this.like = like;
    this.text = text;
  }

  get events(): readonly ReplyEvent[] {
    const { choice, part } = this.like;
    this.#events ??= [{ type: 'part-delta', choice, part, delta: this.text }];
    return this.#events;
  }
}

/** A text that no provider sends, without characters that JSON escapes. */
const PROBE = 'modelport probes a text';
/** Characters that a JSON string must escape. */
const ESCAPED = /["\\\p{Cc}]/u;
/**
 * After this many examples in a row without a match, learning stops: the events of this stream differ in other members.
 */
const MOST_IN_VAIN = 4;

const LAST_CONTROL = 31;
const LINE_END = 10;
const FIRST_NOT_ASCII = 128;

const encoder = new TextEncoder();
/** Shared, because most chunks bring one frame, and then an array of one: nothing is added to this one. */
const NO_FRAMES: Frame[] = [];

class RepeatMatcher {
  /** The text of the last match. */
  text = '';
  example: Example | undefined;
  readonly #deltaOf: (payload: JsonObject) => JsonObject | undefined;
  #inVain = 0;

  /** `deltaOf`: the object in an event's payload that has the text as a member. */
  constructor(deltaOf: (payload: JsonObject) => JsonObject | undefined) {
    this.#deltaOf = deltaOf;
  }

  /** Makes the event the example, if it means only this delta and is suitable. */
  learn(event: SseEvent, payload: JsonObject, { choice, part, delta: text }: PartDelta): void {
    const { bytes, data, dataStart, dataEnd } = event;
    if (data === undefined || dataEnd === 0 || this.#inVain >= MOST_IN_VAIN) return;
    this.#inVain++;
    const member = this.#memberOf(payload, text);
    const quoted = `"${text}"`;
    const at = data.indexOf(quoted);
    if (member === undefined || ESCAPED.test(text) || at !== data.lastIndexOf(quoted) || at < 0) return;
    const before = data.slice(0, at + 1);
    const after = data.slice(at + 1 + text.length);
    // Makes sure that the range is the delta's text: another member may hold the same text, or the delta's may be
    // escaped.
    const probed: unknown = JSON.parse(before + PROBE + after);
    if (!isObject(probed) || this.#deltaOf(probed)?.[member] !== PROBE || bytes.at(-1) !== LINE_END) return;
    this.example = {
      choice,
      part,
      before: Buffer.concat([bytes.subarray(0, dataStart), encoder.encode(before)]),
      after: Buffer.concat([encoder.encode(after), bytes.subarray(dataEnd)]),
      jsonStart: dataStart,
      hasNullUsage: payload.usage === null,
    };
  }

  /**
   * If the event at `at` differs from the example only in its text, sets `text` and returns the event's end; otherwise
   * returns -1.
   */
  find(bytes: Uint8Array, at: number): number {
    const { example } = this;
    if (!example || !bytesEqualAt(bytes, at, example.before)) return -1;
    const from = at + example.before.length;
    let to = from;
    let isEscaped = false;
    let bits = 0;
    for (let byte = bytes[to]; byte !== QUOTE; byte = bytes[++to]) {
      if (byte === undefined || byte <= LAST_CONTROL) return -1;
      bits |= byte;
      if (byte !== BACKSLASH) continue;
      isEscaped = true;
      to++;
    }
    // An empty text is not a match.
    if (to === from || !bytesEqualAt(bytes, to, example.after)) return -1;
    const text = bits < FIRST_NOT_ASCII ? asciiIn(bytes, from, to) : textIn(bytes, from, to);
    try {
      this.text = isEscaped ? JSON.parse(`"${text}"`) : text;
    } catch {
      return -1;
    }
    this.#inVain = 0;
    return to + example.after.length;
  }

  /** The member of the delta that holds the text, if the delta has no lists or objects. */
  #memberOf(payload: JsonObject, text: string): string | undefined {
    const delta = this.#deltaOf(payload);
    if (!delta) return undefined;
    const members = Object.keys(delta);
    if (members.some((member) => typeof delta[member] === 'object' && delta[member] !== null)) return undefined;
    const holding = members.filter((member) => delta[member] === text);
    return holding.length === 1 ? holding[0] : undefined;
  }
}

/** Reads a stream most of whose events are like the one before. */
export abstract class RepeatReader extends SseReader {
  readonly #matcher: RepeatMatcher;
  /** The next byte begins an event of a reply that has not ended. */
  #isAtEvent = false;

  /** `deltaOf`: the object in an event's payload that has the text as a member. */
  constructor(deltaOf: (payload: JsonObject) => JsonObject | undefined) {
    super();
    this.#matcher = new RepeatMatcher(deltaOf);
  }

  /** The reply has ended, complete or not. */
  protected abstract get isOver(): boolean;

  override read(chunk: Uint8Array): Frame[] {
    let frames = NO_FRAMES;
    let at = 0;
    if (this.#isAtEvent) {
      for (let end = this.#matcher.find(chunk, 0); end > 0; end = this.#matcher.find(chunk, at)) {
        const frame = this.#frame(sliceBytes(chunk, at, end));
        if (frames === NO_FRAMES) frames = [frame];
        else frames.push(frame);
        at = end;
      }
      if (at > 0 && at === chunk.length) return frames;
    }
    const others = this.frames(at === 0 ? chunk : chunk.subarray(at));
    this.#isAtEvent = this.cutter.isBetweenEvents && !this.isOver;
    return at === 0 ? others : [...frames, ...others];
  }

  /** The frame of an event that is like the example. */
  protected likeFrame(bytes: Uint8Array): Frame | undefined {
    return this.#matcher.find(bytes, 0) === bytes.length ? this.#frame(bytes) : undefined;
  }

  #frame(bytes: Uint8Array): Frame {
    const { example, text } = this.#matcher;
    this.grow(text);
    return new LikeFrame(bytes, example!, text);
  }

  /** What one more text changes besides what its frame says. */
  protected grow(_text: string): void {}

  /** Call it with every event that was parsed. `isPassed`: clients are sent its own bytes. */
  protected learn(event: SseEvent, payload: JsonObject, events: readonly ReplyEvent[], isPassed: boolean): void {
    const [only] = events;
    this.#matcher.example = undefined;
    if (isPassed && events.length === 1 && only?.type === 'part-delta') this.#matcher.learn(event, payload, only);
  }

  protected forget(): void {
    this.#matcher.example = undefined;
  }
}
