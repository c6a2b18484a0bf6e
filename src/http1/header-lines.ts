/**
 * The headers of a message. One pass over the bytes checks all lines and notes where they are; a value is cut out only when it is read.
 */
import { latin1 } from './bytes.ts';

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;
const DEL = 127;

/** For each byte that a name may have, its lower case; for all others 0 (RFC 9110 section 5.6.2). */
const NAME_BYTES = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
  NAME_BYTES[character.charCodeAt(0)] = character.charCodeAt(0);
  NAME_BYTES[character.toUpperCase().charCodeAt(0)] = character.charCodeAt(0);
}

/** What a header to be sent must not have: all but printable ASCII and one-byte characters could end it and start another one. */
export const UNSAYABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** The places in the message that is being read. An array that grows line by line costs five times as much as this one and a copy. */
const found: number[] = [];

export class HeaderLines {
  private readonly text: string;
  /** Of each line the start of its name and its colon, and at the end where the name of one more line would start. */
  private readonly places: readonly number[];

  /**
   * The lines from `from` to `to`, each after a line end. `undefined` if one of them is not a name and a value without control characters:
   * parsers disagree about which of these end a line.
   */
  static read(bytes: Buffer, from: number, to: number): HeaderLines | undefined {
    let count = 0;
    let end = from;
    while (end < to) {
      if (bytes[end] !== CR || bytes[end + 1] !== LF) return undefined;
      const name = end + 2;
      const colon = tokenEnd(bytes, name, to);
      if (colon === name || colon === to || bytes[colon] !== COLON) return undefined;
      found[count++] = name - from;
      found[count++] = colon - from;
      end = textEnd(bytes, colon + 1, to);
    }
    found[count++] = end + 2 - from;
    return new HeaderLines(latin1(bytes, from, to), found.slice(0, count));
  }

  private constructor(text: string, places: readonly number[]) {
    this.text = text;
    this.places = places;
  }

  /** The value of the header with this lower-case name; several are joined to a list. `null` if there is none. */
  get(name: string): string | null {
    let value: string | null = null;
    for (let line = this.find(name, 0); line >= 0; line = this.find(name, line + 2)) {
      const here = this.valueAt(line);
      value = value === null ? here : `${value}, ${here}`;
    }
    return value;
  }

  has(name: string): boolean {
    return this.find(name, 0) >= 0;
  }

  /** Whether there is a header whose name begins so, in lower case. */
  hasStart(start: string): boolean {
    const { places } = this;
    for (let line = 0; line + 1 < places.length; line += 2) if (this.isAt(places[line]!, start)) return true;
    return false;
  }

  /** All headers as an object. */
  toHeaders(): Headers {
    const headers = new Headers();
    const { text, places } = this;
    for (let line = 0; line + 1 < places.length; line += 2)
      headers.append(text.slice(places[line], places[line + 1]), this.valueAt(line));
    return headers;
  }

  /** The next line with this name, or -1. */
  private find(name: string, from: number): number {
    const { places } = this;
    const { length } = name;
    for (let line = from; line + 1 < places.length; line += 2)
      if (places[line + 1]! - places[line]! === length && this.isAt(places[line]!, name)) return line;
    return -1;
  }

  /** Whether these lower-case letters are at this place, in any letter case. */
  private isAt(place: number, name: string): boolean {
    const { text } = this;
    if (place + name.length > text.length) return false;
    for (let i = 0; i < name.length; i++)
      if (NAME_BYTES[text.charCodeAt(place + i)] !== name.charCodeAt(i)) return false;
    return true;
  }

  /** The value of a line without the blanks around it, which are fewer characters than `trim` removes. */
  private valueAt(line: number): string {
    const { text, places } = this;
    let from = places[line + 1]! + 1;
    let to = places[line + 2]! - 2;
    while (from < to && isBlank(text.charCodeAt(from))) from++;
    while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
    return text.slice(from, to);
  }
}

/** The end of the token at `from`: of a header's name, or of a method. */
export function tokenEnd(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && NAME_BYTES[bytes[at]!] !== 0) at++;
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

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}
