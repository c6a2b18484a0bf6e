/** Edits the top-level members of a JSON object in its bytes. All other bytes stay as they were. */
import { BACKSLASH, CLOSE_OBJECT, COLON, COMMA, OPEN_OBJECT, QUOTE } from '../../canonical/ascii.ts';
import { copyStretch, sliceBytes, textIn } from '../../canonical/bytes.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import { BROKEN, skipBlanks, skipString, skipValue } from './skip-json.ts';

/** A range of bytes; `end` is exclusive. */
export interface JsonSpan {
  start: number;
  end: number;
}

interface Member {
  /** The position of the name's opening quote. */
  start: number;
  nameEnd: number;
  valueStart: number;
  end: number;
}

const encoder = new TextEncoder();
const quotedNames = new Map<string, Uint8Array>();
const quotedTexts = new Map<string, Uint8Array>();
/** Callers may make up texts: what is kept of them is bounded. */
const MAX_KEPT_TEXTS = 1000;
const KEPT_LENGTH = 200;

/**
 * Sets, replaces or (`undefined`) removes top-level members. New members are added at the end. Everything else stays
 * byte for byte, also number literals and white space. Throws `invalid_request` if the body is not a JSON object.
 */
export function patchMembers(body: Uint8Array, members: { readonly [name: string]: Json | undefined }): Uint8Array {
  const names = Object.keys(members);
  if (names.length === 0) return body;
  const scan = new MemberScan(body, 0);
  const patch = new Patch(body, members, scan.open);
  while (scan.next()) patch.see(nameAmong(body, scan, names), scan, false);
  if (scan.broken) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  return patch.result();
}

/** A top-level member and its position in the body. */
export interface MemberPlace extends Member {
  /** A hash of the name; equal names have equal hashes. */
  readonly hash: number;
  /** A later member has the same name. */
  isRepeated: boolean;
}

/** Up to this many members, each is compared with each. Real requests have fewer. */
const COMPARED_MEMBERS = 48;

/** Lists the top-level members in order. Throws `invalid_request` if the body is not a JSON object. */
export function memberPlaces(body: Uint8Array): MemberPlace[] {
  const scan = new MemberScan(body, 0);
  const places: MemberPlace[] = [];
  while (scan.next()) {
    const { start, nameEnd, valueStart, end } = scan;
    const hash = hashAt(body, start, nameEnd);
    if (places.length <= COMPARED_MEMBERS)
      for (const other of places)
        if (other.hash === hash && !other.isRepeated) other.isRepeated = isSame(body, other, scan);
    places.push({ start, nameEnd, valueStart, end, hash, isRepeated: false });
  }
  if (scan.broken) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  if (places.length > COMPARED_MEMBERS) findRepeated(body, places);
  return places;
}

function isSame(body: Uint8Array, one: Member, other: Member): boolean {
  return unquote(body, one.start, one.nameEnd) === unquote(body, other.start, other.nameEnd);
}

function findRepeated(body: Uint8Array, places: readonly MemberPlace[]): void {
  const last = new Map<unknown, MemberPlace>();
  for (const place of places) {
    const name = unquote(body, place.start, place.nameEnd);
    const earlier = last.get(name);
    if (earlier) earlier.isRepeated = true;
    last.set(name, place);
  }
}

/** The last member of this name. */
export function placeNamed(body: Uint8Array, places: readonly MemberPlace[], name: string): MemberPlace | undefined {
  const quoted = quotedName(name);
  const hash = hashAt(quoted, 0, quoted.length);
  for (const place of places)
    if (place.hash === hash && !place.isRepeated && isNamed(body, place, quoted, name)) return place;
  return undefined;
}

/** The hash of a quoted name. A name with escapes is decoded first. */
function hashAt(bytes: Uint8Array, start: number, nameEnd: number): number {
  let hash = 0;
  for (let at = start + 1; at < nameEnd - 1; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) return hashOf(String(unquote(bytes, start, nameEnd)));
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  return hash;
}

function hashOf(name: string): number {
  let hash = 0;
  for (const byte of encoder.encode(name)) hash = (Math.imul(hash, 31) + byte) | 0;
  return hash;
}

/**
 * Like `patchMembers`, for a body whose members are already listed. Of several members of one name only the last stays.
 */
export function patchPlaces(
  body: Uint8Array,
  places: readonly MemberPlace[],
  members: { readonly [name: string]: Json | undefined },
): Uint8Array {
  const names = Object.keys(members);
  const patch = new Patch(body, members, new MemberScan(body, 0).open);
  for (const place of places) patch.see(nameAmong(body, place, names), place, place.isRepeated);
  return patch.result();
}

/** The hashes of the names seen by `replaceOnly`: it is done before another call begins. */
const hashes = new Int32Array(COMPARED_MEMBERS);

/**
 * The body with another value of the one member of this name; `undefined`: it has no such member, or may have two of some name. The
 * usual change of a plain call, so it lists nothing and copies once, or not at all where the value is there already.
 */
export function replaceOnly(body: Uint8Array, name: string, value: Json): Uint8Array | undefined {
  const quoted = quotedName(name);
  const scan = new MemberScan(body, 0);
  let start = BROKEN;
  let end = BROKEN;
  for (let count = 0; scan.next(); count++) {
    if (count === COMPARED_MEMBERS) return undefined;
    const hash = hashAt(body, scan.start, scan.nameEnd);
    for (let i = 0; i < count; i++) if (hashes[i] === hash) return undefined;
    hashes[count] = hash;
    if (!isNamed(body, scan, quoted, name)) continue;
    start = scan.valueStart;
    ({ end } = scan);
  }
  if (scan.broken || start === BROKEN) return undefined;
  if (typeof value === 'string') return withText(body, { start, end }, value);
  return spliceBytes(body, start, end, encoder.encode(JSON.stringify(value)));
}

/** Whether the bytes begin as a JSON object does. */
export function beginsObject(body: Uint8Array): boolean {
  return new MemberScan(body, 0).open !== BROKEN;
}

/** Parses the value in this range. */
export function parsedAt(bytes: Uint8Array, start: number, end: number): Json | undefined {
  return unquote(bytes, start, end) as Json | undefined;
}

/** Collects the pieces of a changed body, member by member. */
class Patch {
  readonly #body: Uint8Array;
  readonly #members: { readonly [name: string]: Json | undefined };
  readonly #pieces: Uint8Array[] = [];
  readonly #found: string[] = [];
  #copied = 0;
  #kept = 0;
  #last: number;
  /**
   * A removed member takes one comma with it: the one before it, or, if nothing before it is kept, the one after it.
   */
  #isRemovingTo = false;

  constructor(body: Uint8Array, members: { readonly [name: string]: Json | undefined }, open: number) {
    this.#body = body;
    this.#members = members;
    this.#last = open;
  }

  /** `name`: this member's name if it is one of those to change. `isDropped`: remove it in any case. */
  see(
    name: string | undefined,
    { start, valueStart, end }: Pick<Member, 'start' | 'valueStart' | 'end'>,
    isDropped: boolean,
  ): void {
    const value = name === undefined || isDropped ? undefined : this.#members[name];
    if (this.#isRemovingTo) this.#copied = start;
    this.#isRemovingTo = false;
    if (name !== undefined && !isDropped) this.#found.push(name);
    const isTouched = name !== undefined || isDropped;
    if (!isTouched || value !== undefined) this.#kept++;
    if (isTouched && value !== undefined) {
      this.#pieces.push(sliceBytes(this.#body, this.#copied, valueStart), encoder.encode(JSON.stringify(value)));
      this.#copied = end;
    } else if (isTouched) {
      this.#pieces.push(
        sliceBytes(this.#body, this.#copied, this.#kept > 0 ? Math.max(this.#copied, this.#last) : start),
      );
      this.#copied = end;
      this.#isRemovingTo = this.#kept === 0;
    }
    this.#last = end;
  }

  result(): Uint8Array {
    const added: string[] = [];
    for (const name in this.#members) {
      const value = this.#members[name];
      if (value !== undefined && !this.#found.includes(name))
        added.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    }
    if (added.length > 0) {
      const comma = this.#kept > 0 ? ',' : '';
      this.#pieces.push(sliceBytes(this.#body, this.#copied, this.#last), encoder.encode(comma + added.join(',')));
      this.#copied = this.#last;
    }
    this.#pieces.push(sliceBytes(this.#body, this.#copied, this.#body.length));
    return joinBytes(this.#pieces);
  }
}

/** Adds members to the object in the top-level member `name`. The object's own members stay byte for byte. */
export function addToMember(body: Uint8Array, name: string, members: JsonObject): Uint8Array {
  const span = memberSpan(body, name);
  const isInside = span !== undefined && body[span.start] === OPEN_OBJECT;
  if (!isInside) return patchMembers(body, { [name]: members });
  const added = patchMembers(body.subarray(span.start, span.end), members);
  return spliceBytes(body, span.start, span.end, added);
}

/**
 * The range of the value of the last top-level member `name`, which is the one that parsers take, in the JSON object that begins at `from`.
 * Strings include their quotes.
 */
export function memberSpan(bytes: Uint8Array, name: string, from = 0): JsonSpan | undefined {
  const quoted = quotedName(name);
  const scan = new MemberScan(bytes, from);
  let span: JsonSpan | undefined;
  /** Where the name and an escape come next: sought behind them only, so that many members of this name do not take quadratic time. */
  let [nameAt, escapeAt] = [0, 0];
  while (Math.max(nameAt, escapeAt) >= 0 && scan.next()) {
    if (!isNamed(bytes, scan, quoted, name)) continue;
    span = { start: scan.valueStart, end: scan.end };
    if (nameAt >= 0 && nameAt < scan.end) nameAt = indexOf.call(bytes as Buffer, quoted, scan.end);
    if (escapeAt >= 0 && escapeAt < scan.end) escapeAt = indexOf.call(bytes as Buffer, ESCAPE, scan.end);
  }
  return span;
}

const { indexOf } = Buffer.prototype;
/** How the escape of a letter begins. The engine's search takes a tenth of what reading all other members would. */
const ESCAPE = encoder.encode('\\u00');

/** Parses only the top-level members of these names. Returns `{}` if the body is not a JSON object. */
export function pickMembers(body: Uint8Array, names: ReadonlySet<string>): JsonObject {
  const picked: JsonObject = {};
  const wanted = [...names];
  const scan = new MemberScan(body, 0);
  while (scan.next()) {
    const name = nameAmong(body, scan, wanted);
    if (name !== undefined) picked[name] = unquote(body, scan.valueStart, scan.end) as Json;
  }
  return picked;
}

/** Puts this text into the last top-level member `name`, if there is one, in the JSON object that begins at `from`. */
export function replaceMember(bytes: Uint8Array, name: string, text: string, from = 0): Uint8Array {
  const span = memberSpan(bytes, name, from);
  return span ? withText(bytes, span, text) : bytes;
}

/** Replaces the bytes from `start` to `end`. */
export function spliceBytes(bytes: Uint8Array, start: number, end: number, replacement: Uint8Array): Uint8Array {
  const spliced = Buffer.allocUnsafe(bytes.length - (end - start) + replacement.length);
  copyStretch(bytes, 0, start, spliced, 0);
  spliced.set(replacement, start);
  copyStretch(bytes, end, bytes.length, spliced, start + replacement.length);
  return spliced;
}

/** The bytes with this text in the place of the string at `span`; the bytes themselves if it is there already. */
export function withText(bytes: Uint8Array, span: JsonSpan, text: string): Uint8Array {
  return isQuoted(bytes, span, text) ? bytes : spliceBytes(bytes, span.start, span.end, quotedText(text));
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1 && pieces[0]) return pieces[0];
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/**
 * Iterates over the top-level members of the object that begins at `from`. Looks only at brackets, quotes and
 * separators.
 */
class MemberScan implements Member {
  readonly #bytes: Uint8Array;
  /** The position after the opening brace, or BROKEN if there is none. */
  readonly open: number;
  /** Set if the bytes are not a JSON object. */
  broken = false;
  start = 0;
  nameEnd = 0;
  valueStart = 0;
  end = 0;

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes;
    const brace = skipBlanks(bytes, hasByteOrderMark(bytes, from) ? from + 3 : from);
    this.open = bytes[brace] === OPEN_OBJECT ? brace + 1 : BROKEN;
    this.broken = this.open === BROKEN;
  }

  /** Moves to the next member. Returns `false` after the last. */
  next(): boolean {
    if (this.broken) return false;
    const bytes = this.#bytes;
    const isFirst = this.end === 0;
    let at = skipBlanks(bytes, isFirst ? this.open : this.end);
    if (bytes[at] === CLOSE_OBJECT) return false;
    if (!isFirst) at = bytes[at] === COMMA ? skipBlanks(bytes, at + 1) : bytes.length;
    this.start = at;
    this.nameEnd = bytes[at] === QUOTE ? skipString(bytes, at) : BROKEN;
    at = skipBlanks(bytes, this.nameEnd);
    this.valueStart = skipBlanks(bytes, at + 1);
    this.end = this.nameEnd !== BROKEN && bytes[at] === COLON ? skipValue(bytes, this.valueStart) : BROKEN;
    this.broken = this.end === BROKEN;
    return !this.broken;
  }
}

/** Whether the member's name is `name` (`quoted` in bytes). A name with escapes is decoded first. */
function isNamed(bytes: Uint8Array, member: Member, quoted: Uint8Array, name: string): boolean {
  const { start, nameEnd } = member;
  if (quoted.length === nameEnd - start) {
    let same = 1;
    while (same < quoted.length && bytes[start + same] === quoted[same]) same++;
    if (same === quoted.length) return true;
  }
  for (let at = start; at < nameEnd; at++) if (bytes[at] === BACKSLASH) return unquote(bytes, start, nameEnd) === name;
  return false;
}

/** The member's name, if it is one of `names`. */
function nameAmong(bytes: Uint8Array, member: Member, names: readonly string[]): string | undefined {
  for (const name of names) if (isNamed(bytes, member, quotedName(name), name)) return name;
  return undefined;
}

/** Whether the range is exactly this text in quotes, without escapes. */
function isQuoted(bytes: Uint8Array, { start, end }: JsonSpan, text: string): boolean {
  if (end - start !== text.length + 2 || bytes[start] !== QUOTE) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (bytes[start + 1 + i] !== code || code === BACKSLASH || code >= 128) return false;
  }
  return true;
}

function unquote(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return JSON.parse(textIn(bytes, start, end));
  } catch {
    return undefined;
  }
}

function quotedName(name: string): Uint8Array {
  let quoted = quotedNames.get(name);
  if (!quoted) {
    quoted = encoder.encode(JSON.stringify(name));
    // Names come from the code, so the cache stays small. The limit only protects against a caller that generates
    // names.
    if (quotedNames.size < 1000) quotedNames.set(name, quoted);
  }
  return quoted;
}

/** A text as JSON, for texts that are written again and again, such as names of models. */
function quotedText(text: string): Uint8Array {
  const known = quotedTexts.get(text);
  if (known) return known;
  const quoted = encoder.encode(JSON.stringify(text));
  if (text.length <= KEPT_LENGTH && quotedTexts.size < MAX_KEPT_TEXTS) quotedTexts.set(text, quoted);
  return quoted;
}

function hasByteOrderMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}
