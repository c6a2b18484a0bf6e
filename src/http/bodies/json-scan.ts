/** Counts the members of a JSON text before it is parsed: the cost of parsing depends on members, not on bytes. */
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../../canonical/ascii.ts';

export interface JsonBounds {
  /** The maximum nesting of objects and arrays. */
  depth: number;
  /** Elements of all arrays and members of all objects. */
  values: number;
  /** Members of all objects. */
  members: number;
  /** Members of one object: one object with many names costs far more than many small objects. */
  membersOfOne: number;
}

export type JsonExcess = keyof JsonBounds;

/** Above this length the native search for the closing quote is faster than a loop. */
const SHORT = 24;

/** The first limit that the text exceeds, or `undefined`. The result for invalid JSON has no meaning. */
export function scanJson(bytes: Buffer, bounds: JsonBounds): JsonExcess | undefined {
  const ofObject = new Uint32Array(bounds.depth + 1);
  let depth = 0;
  let values = 0;
  let members = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = stringEnd(bytes, at + 1);
        break;
      case COMMA:
        if (++values > bounds.values) return 'values';
        break;
      case COLON:
        if (++members > bounds.members) return 'members';
        if (++ofObject[depth]! > bounds.membersOfOne) return 'membersOfOne';
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (++depth > bounds.depth) return 'depth';
        if (++values > bounds.values) return 'values';
        ofObject[depth] = 0;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        if (depth > 0) depth--;
        break;
      default:
    }
  }
  return undefined;
}

/** The index of the closing quote of the string that begins at `from`, or the end of the text. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let at = from; ; ) {
    const near = Math.min(at + SHORT, bytes.length);
    for (; at < near; at++) {
      if (bytes[at] === QUOTE) return at;
      if (bytes[at] === BACKSLASH) at++;
    }
    if (at >= bytes.length) return bytes.length;
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length;
    // After an odd number of backslashes the quote is part of the string.
    let back = quote;
    while (back > at && bytes[back - 1] === BACKSLASH) back--;
    if ((quote - back) % 2 === 0) return quote;
    at = quote + 1;
  }
}
