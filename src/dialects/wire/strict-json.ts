/**
 * Checks JSON in its bytes, as strictly as the full parser, without building it. Each function returns the position after the value, or
 * `DOUBT`: then the full parser decides.
 */
import { BACKSLASH, DOT, MINUS, NINE, PLUS, QUOTE, ZERO } from '../../canonical/ascii.ts';

export const DOUBT = -1;

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/** Whether these bytes are at this position. */
export function isWordAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}

/** `at`: the opening quote. */
export function strictString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return DOUBT;
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) return i + 1;
    if (byte < 32) return DOUBT;
    if (byte !== BACKSLASH) continue;
    i = escapeEnd(bytes, i + 1);
    if (i === DOUBT) return DOUBT;
  }
  return DOUBT;
}

/** The position of the last character of the escape, of which `at` is the one after the backslash. */
function escapeEnd(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
    case BACKSLASH:
    case 47: // /
    case 98: // b
    case 102: // f
    case 110: // n
    case 114: // r
    case 116: // t
      return at;
    case 117: // u
      for (let i = at + 1; i <= at + 4; i++) if (!isHex(bytes[i])) return DOUBT;
      return at + 4;
    default:
      return DOUBT;
  }
}

function isHex(byte = 0): boolean {
  return isDigit(byte) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** A string, a number, `true`, `false` or `null`. */
export function strictScalar(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return strictString(bytes, at);
    case 116: // t
      return isWordAt(bytes, at, TRUE) ? at + 4 : DOUBT;
    case 102: // f
      return isWordAt(bytes, at, FALSE) ? at + 5 : DOUBT;
    case 110: // n
      return isWordAt(bytes, at, NULL) ? at + 4 : DOUBT;
    default:
      return strictNumber(bytes, at);
  }
}

export function strictNull(bytes: Uint8Array, at: number): number {
  return isWordAt(bytes, at, NULL) ? at + 4 : DOUBT;
}

function strictNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start;
  // No further digit may follow a leading zero.
  const whole = bytes[at] === ZERO ? at + 1 : digitsEnd(bytes, at);
  if (whole === at) return DOUBT;
  at = whole;
  if (bytes[at] === DOT) {
    const end = digitsEnd(bytes, at + 1);
    if (end === at + 1) return DOUBT;
    at = end;
  }
  if (bytes[at] === 69 || bytes[at] === 101) {
    const first = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS ? at + 2 : at + 1;
    const end = digitsEnd(bytes, first);
    if (end === first) return DOUBT;
    at = end;
  }
  return at;
}

function digitsEnd(bytes: Uint8Array, at: number): number {
  while (isDigit(bytes[at])) at++;
  return at;
}
