/** Counts what a JSON text holds before it is parsed: parsing costs by the member, not by the byte. */

export interface JsonBounds {
  /** Objects and arrays within one another. */
  depth: number;
  /** Elements of all arrays and members of all objects together. */
  values: number;
  /** Members of all objects together. */
  members: number;
  /** Members of one object: one of very many names costs far more than many of few. */
  membersOfOne: number;
}

export type JsonExcess = keyof JsonBounds;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Longer strings are searched natively: asking costs as much as looking at some bytes. */
const SHORT = 24;

/** The first bound that the text breaks; `undefined` where it breaks none. Of what is no JSON it may say anything. */
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

/** Where the string that begins at `from` has its closing quote; the text's end where it has none. */
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
    // An odd number of backslashes before it: it is the string's own.
    let back = quote;
    while (back > at && bytes[back - 1] === BACKSLASH) back--;
    if ((quote - back) % 2 === 0) return quote;
    at = quote + 1;
  }
}
