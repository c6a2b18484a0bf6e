/**
 * Recognizes a chunk that differs from the previous one only in its text. Most chunks of a stream do, and parsing is
 * the largest part of a chunk's cost.
 */
import { BACKSLASH, QUOTE } from '../../../canonical/ascii.ts';
import { bytesEqualAt, textIn } from '../../../canonical/bytes.ts';
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import type { SseEvent } from '../../wire/sse.ts';

/** A text that no provider sends, without characters that JSON escapes. */
const PROBE = 'modelport probes a text';
/** Characters that a JSON string must escape. */
const ESCAPED = /["\\\p{Cc}]/u;
/**
 * After this many examples in a row without a match, learning stops: the chunks of this stream differ in other members.
 */
const MOST_IN_VAIN = 4;

const LAST_CONTROL = 31;
const LINE_END = 10;

const encoder = new TextEncoder();

export class RepeatChunkMatcher {
  /** The text of the last match. */
  text = '';
  /** The bytes before and after the example's text, up to the blank line. `undefined` without an example. */
  #before: Uint8Array | undefined;
  #after = new Uint8Array();
  #inVain = 0;

  /** Makes the chunk the example, if it is suitable. `text`: the text of its delta. */
  learn(event: SseEvent, payload: JsonObject, text: string): void {
    const { bytes, data, dataStart, dataEnd } = event;
    if (data === undefined || dataEnd === 0 || event.event !== undefined || this.#inVain >= MOST_IN_VAIN) return;
    this.#inVain++;
    const member = memberOf(payload, text);
    const quoted = `"${text}"`;
    const at = data.indexOf(quoted);
    if (member === undefined || ESCAPED.test(text) || at !== data.lastIndexOf(quoted) || at < 0) return;
    const before = data.slice(0, at + 1);
    const after = data.slice(at + 1 + text.length);
    // Makes sure that the range is the delta's text: another member may hold the same text, or the delta's may be
    // escaped.
    const probed: unknown = JSON.parse(before + PROBE + after);
    if (!isObject(probed) || deltaOf(probed)?.[member] !== PROBE || bytes.at(-1) !== LINE_END) return;
    this.#before = Buffer.concat([bytes.subarray(0, dataStart), encoder.encode(before)]);
    this.#after = Buffer.concat([encoder.encode(after), bytes.subarray(dataEnd)]);
  }

  forget(): void {
    this.#before = undefined;
  }

  /**
   * If the event at `at` differs from the example only in its text, sets `text` and returns the event's end; otherwise
   * returns -1.
   */
  find(bytes: Uint8Array, at: number): number {
    const before = this.#before;
    const after = this.#after;
    if (!before || !bytesEqualAt(bytes, at, before)) return -1;
    const from = at + before.length;
    let to = from;
    let isEscaped = false;
    for (let byte = bytes[to]; byte !== QUOTE; byte = bytes[++to]) {
      if (byte === undefined || byte <= LAST_CONTROL) return -1;
      if (byte !== BACKSLASH) continue;
      isEscaped = true;
      to++;
    }
    // An empty text is not a match.
    if (to === from || !bytesEqualAt(bytes, to, after)) return -1;
    const text = textIn(bytes, from, to);
    try {
      this.text = isEscaped ? JSON.parse(`"${text}"`) : text;
    } catch {
      return -1;
    }
    this.#inVain = 0;
    return to + after.length;
  }
}

/** The member of the delta that holds the text, if there is one choice and the delta has no lists or objects. */
function memberOf(payload: JsonObject, text: string): string | undefined {
  const delta = deltaOf(payload);
  if (!delta) return undefined;
  const members = Object.keys(delta);
  if (members.some((member) => typeof delta[member] === 'object' && delta[member] !== null)) return undefined;
  const holding = members.filter((member) => delta[member] === text);
  return holding.length === 1 ? holding[0] : undefined;
}

function deltaOf({ choices }: JsonObject): JsonObject | undefined {
  const only: Json | undefined = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  return isObject(only) && isObject(only.delta) ? only.delta : undefined;
}
