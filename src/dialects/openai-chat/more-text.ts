/** Recognises a chunk that says what the one before it said, but for its text: such are most of a stream, and parsing them is most of what a chunk costs. */
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';

/** What no vendor's text is, without anything that JSON escapes. */
const PROBE = 'modelport probes a text';
/** What a string in JSON holds escaped, or not at all. */
const ESCAPED = /["\\\p{Cc}]/u;
/** Examples that no chunk followed in a row before no more are taken: every chunk of this stream differs in something else. */
const MOST_IN_VAIN = 4;

export class MoreText {
  /** What stands before and after the example's text. */
  #before = '';
  #after = '';
  #inVain = 0;

  /** Takes the chunk for the example, if it can be one; `text`: all that it said. */
  learn(data: string, payload: JsonObject, text: string): boolean {
    if (this.#inVain >= MOST_IN_VAIN) return false;
    this.#inVain++;
    const member = memberOf(payload, text);
    const quoted = `"${text}"`;
    const at = data.indexOf(quoted);
    if (member === undefined || ESCAPED.test(text) || at !== data.lastIndexOf(quoted) || at < 0) return false;
    const before = data.slice(0, at + 1);
    const after = data.slice(at + 1 + text.length);
    // Another member may hold the same text, and the delta's own be written with escapes.
    const probed: unknown = JSON.parse(before + PROBE + after);
    if (!isObject(probed) || deltaOf(probed)?.[member] !== PROBE) return false;
    this.#before = before;
    this.#after = after;
    return true;
  }

  /** The text of a chunk that differs from the example in nothing else; `undefined` where it differs. */
  read(data: string): string | undefined {
    const from = this.#before.length;
    const to = data.length - this.#after.length;
    if (to <= from || !data.startsWith(this.#before) || !data.endsWith(this.#after)) return undefined;
    this.#inVain = 0;
    const text = data.slice(from, to);
    if (!ESCAPED.test(text)) return text;
    try {
      return JSON.parse(`"${text}"`);
    } catch {
      // A quotation mark in it ends the member: the chunk is of another form.
      return undefined;
    }
  }
}

/** The member of the only choice's delta that holds the text, where nothing in the delta is a list or an object. */
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
