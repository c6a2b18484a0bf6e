/**
 * The headers of a message. One pass over the bytes checks all lines and notes where they are; a value is cut out only when it is read.
 */
import { COLON, CR, DEL, LF, SPACE, TAB, ZERO } from './ascii.ts';
import { latin1 } from './bytes.ts';

/** More than any length needs, and fewer than a number holds exactly. */
const MOST_DIGITS = 15;

/** 1 for each byte that a name may have (RFC 9110 section 5.6.2). */
const NAME_BYTES = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  NAME_BYTES[character.charCodeAt(0)] = 1;

/** Each byte, a letter as a small one. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** The places in the message that is being read. An array that grows line by line costs five times as much as this one and a copy. */
const found: number[] = [];

export class HeaderLines {
  private readonly text: string;
  /** Of each line four: where its name starts and ends, and its value without the blanks around it, which are fewer than `trim` removes. */
  private readonly places: readonly number[];

  /**
   * The lines from `from` to `to`, each after a line end; at `to` the empty line begins. `undefined` if one of them is not a name and a value
   * without control characters: parsers disagree about which of these end a line. One function, because with a call for each part it takes
   * twice as long.
   */
  static read(bytes: Buffer, from: number, to: number): HeaderLines | undefined {
    let count = 0;
    let at = from;
    while (at < to) {
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
      const name = at + 2;
      at = name;
      while (at < bytes.length && NAME_BYTES[bytes[at]!] === 1) at++;
      if (at === name || bytes[at] !== COLON) return undefined;
      found[count++] = name - from;
      found[count++] = at - from;
      let start = at + 1;
      while (bytes[start] === SPACE || bytes[start] === TAB) start++;
      for (at = start; at < bytes.length; at++) {
        const byte = bytes[at]!;
        if ((byte < SPACE && byte !== TAB) || byte === DEL) break;
      }
      let end = at;
      while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end--;
      found[count++] = start - from;
      found[count++] = end - from;
    }
    if (at !== to) return undefined;
    return new HeaderLines(latin1(bytes, from, to), found.slice(0, count));
  }

  private constructor(text: string, places: readonly number[]) {
    this.text = text;
    this.places = places;
  }

  /** The value of the header with this lower-case name; several are joined to a list. `null` if there is none. */
  get(name: string): string | null {
    let value: string | null = null;
    for (let line = this.find(name, 0); line >= 0; line = this.find(name, line + 4)) {
      const here = this.text.slice(this.places[line + 2], this.places[line + 3]);
      value = value === null ? here : `${value}, ${here}`;
    }
    return value;
  }

  has(name: string): boolean {
    return this.find(name, 0) >= 0;
  }

  /** Whether exactly one line has this name, and this lower-case value in any letter case. Cheaper than `get`: nothing is cut out. */
  is(name: string, value: string): boolean {
    const line = this.find(name, 0);
    if (line < 0 || this.find(name, line + 4) >= 0) return false;
    const from = this.places[line + 2]!;
    return this.places[line + 3]! - from === value.length && this.isAt(from, value);
  }

  /** The number in the only line with this name. `undefined` if there is no such line, or anything but up to 15 digits in it. */
  number(name: string): number | undefined {
    const line = this.find(name, 0);
    if (line < 0 || this.find(name, line + 4) >= 0) return undefined;
    const from = this.places[line + 2]!;
    const to = this.places[line + 3]!;
    if (from === to || to - from > MOST_DIGITS) return undefined;
    let number = 0;
    for (let at = from; at < to; at++) {
      const digit = this.text.charCodeAt(at) - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      number = number * 10 + digit;
    }
    return number;
  }

  /** Whether there is a header whose name begins so, in lower case. */
  hasStart(start: string): boolean {
    const { places } = this;
    for (let line = 0; line < places.length; line += 4) if (this.isAt(places[line]!, start)) return true;
    return false;
  }

  /** All headers as an object. */
  toHeaders(): Headers {
    const headers = new Headers();
    const { text, places } = this;
    for (let line = 0; line < places.length; line += 4)
      headers.append(text.slice(places[line], places[line + 1]), text.slice(places[line + 2], places[line + 3]));
    return headers;
  }

  /** The next line with this name, or -1. */
  private find(name: string, from: number): number {
    const { places } = this;
    const { length } = name;
    for (let line = from; line < places.length; line += 4)
      if (places[line + 1]! - places[line]! === length && this.isAt(places[line]!, name)) return line;
    return -1;
  }

  /** Whether these lower-case letters are at this place, in any letter case. */
  private isAt(place: number, name: string): boolean {
    const { text } = this;
    if (place + name.length > text.length) return false;
    for (let i = 0; i < name.length; i++) if (LOWER[text.charCodeAt(place + i)] !== name.charCodeAt(i)) return false;
    return true;
  }
}

/** The end of the token at `from`: of a header's name, or of a method. */
export function tokenEnd(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && NAME_BYTES[bytes[at]!] === 1) at++;
  return at;
}

/** The first control character from `from` on, or `to`. A tab is none. */
export function textEnd(bytes: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if ((byte < SPACE && byte !== TAB) || byte === DEL) return at;
  }
  return to;
}

/** The end of the line at `from`: before CR LF, or `to`. */
export function lineEndOf(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && !(bytes[at] === CR && bytes[at + 1] === LF)) at++;
  return at;
}

/** Whether a header with a list of words contains this one, in any letter case. */
export function listHas(list: string, word: string): boolean {
  const lower = list.toLowerCase();
  // Most lists are one word.
  if (!lower.includes(',')) return lower === word;
  return lower.split(',').some((one) => one.trim() === word);
}
