/** Finds the ends of JSON values in their bytes by brackets, quotes and separators alone: what is between them is not checked. */
import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../canonical/ascii.ts';

export const BROKEN = -1;

// For short strings a loop is faster than a call of the engine's search.
const WALKED_BYTES = 48;

export function skipBlanks(bytes: Uint8Array, at: number): number {
  let byte = bytes[at];
  while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++at];
  return at;
}

/** Returns the position after the closing quote of the string that opens at `start`. */
export function skipString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (const walked = Math.min(bytes.length, at + WALKED_BYTES); at < walked; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return BROKEN;
    let slashes = 0;
    while (quote - slashes > at && bytes[quote - slashes - 1] === BACKSLASH) slashes++;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
}

export function skipValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return skipNested(bytes, start);
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= 32) break;
  }
  return at === start ? BROKEN : at;
}

function skipNested(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      if (at === BROKEN) return BROKEN;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
    at++;
    if (depth === 0) return at;
  }
  return BROKEN;
}
