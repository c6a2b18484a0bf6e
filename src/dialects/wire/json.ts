/** Edits top-level members of a JSON object in its bytes and leaves every other byte as it was. */
import { copyStretch, sliceBytes, textIn } from '../../canonical/bytes.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';

/** A stretch of bytes, `end` exclusive. */
export interface Span {
  start: number;
  end: number;
}

interface Member {
  /** The opening quote of the name. */
  start: number;
  nameEnd: number;
  valueStart: number;
  end: number;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const BROKEN = -1;
// Short strings are faster to call than to hand to the engine's search.
const WALKED_BYTES = 48;

const encoder = new TextEncoder();
const quotedNames = new Map<string, Uint8Array>();

/**
 * Sets, replaces or (`undefined`) removes top-level members; new ones stand last. Everything else, number literals and
 * blanks too, stays byte for byte. Throws `invalid_request` where the body is no JSON object.
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

/** A top-level member of a body, by its place. */
export interface MemberPlace extends Member {
  /** Of its name: equal names have equal ones. */
  readonly hash: number;
  /** Another of this name follows. */
  isRepeated: boolean;
}

/** Up to so many members are compared each with each; a body of more is a rare one, or an attack. */
const COMPARED_MEMBERS = 48;

/** The top-level members in their order. Throws `invalid_request` where the body is no JSON object. */
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

/** Of a name in its quotes; one with escapes is decoded first. */
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

/** `patchMembers` of a body whose members are known by their places; of those of one name the last stays. */
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

/** The value that stands there. */
export function parsedAt(bytes: Uint8Array, start: number, end: number): Json | undefined {
  return unquote(bytes, start, end) as Json | undefined;
}

/** The pieces of a changed body, member by member. */
class Patch {
  readonly #body: Uint8Array;
  readonly #members: { readonly [name: string]: Json | undefined };
  readonly #pieces: Uint8Array[] = [];
  readonly #found: string[] = [];
  #copied = 0;
  #kept = 0;
  #last: number;
  /** A removed member takes one comma with it: the one before it, or, where none is kept before it, the one behind. */
  #isRemovingTo = false;

  constructor(body: Uint8Array, members: { readonly [name: string]: Json | undefined }, open: number) {
    this.#body = body;
    this.#members = members;
    this.#last = open;
  }

  /** `name`: of the members to change the one that this is. `isDropped`: it goes, whatever it is. */
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

/** Adds these members to the object that the top-level member `name` holds: its own stay byte for byte. */
export function addToMember(body: Uint8Array, name: string, members: JsonObject): Uint8Array {
  const span = memberSpan(body, name);
  const isInside = span !== undefined && body[span.start] === OPEN_OBJECT;
  if (!isInside) return patchMembers(body, { [name]: members });
  const added = patchMembers(body.subarray(span.start, span.end), members);
  return spliceBytes(body, span.start, span.end, added);
}

/** Where the value of the first top-level member `name` stands in the JSON object that begins at `from`; strings with their quotes. */
export function memberSpan(bytes: Uint8Array, name: string, from = 0): Span | undefined {
  const quoted = quotedName(name);
  const scan = new MemberScan(bytes, from);
  while (scan.next()) if (isNamed(bytes, scan, quoted, name)) return { start: scan.valueStart, end: scan.end };
  return undefined;
}

/** The top-level members of these names, parsed; a body that is no JSON object has none. */
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

/** Replaces the value of the first top-level member `name`, if there is one, in the JSON object that begins at `from`. */
export function replaceMember(bytes: Uint8Array, name: string, value: Json, from = 0): Uint8Array {
  const span = memberSpan(bytes, name, from);
  return span ? spliceBytes(bytes, span.start, span.end, encoder.encode(JSON.stringify(value))) : bytes;
}

/** `bytes` with the stretch from `start` to `end` replaced. */
export function spliceBytes(bytes: Uint8Array, start: number, end: number, replacement: Uint8Array): Uint8Array {
  const spliced = Buffer.allocUnsafe(bytes.length - (end - start) + replacement.length);
  copyStretch(bytes, 0, start, spliced, 0);
  spliced.set(replacement, start);
  copyStretch(bytes, end, bytes.length, spliced, start + replacement.length);
  return spliced;
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

/** Walks the top-level members of the object that begins at `from`; only brackets, quotes and separators are looked at. */
class MemberScan implements Member {
  readonly #bytes: Uint8Array;
  /** Behind the opening brace; BROKEN where there is none. */
  readonly open: number;
  /** The bytes turned out to be no JSON object. */
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

  /** Moves to the next member; `false` behind the last. */
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

function skipBlanks(bytes: Uint8Array, at: number): number {
  let byte = bytes[at];
  while (byte === 32 || byte === 10 || byte === 13 || byte === 9) byte = bytes[++at];
  return at;
}

/** From an opening quote to behind the closing one. */
function skipString(bytes: Uint8Array, start: number): number {
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

function skipValue(bytes: Uint8Array, start: number): number {
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

/** Whether the quoted name in the bytes is `quoted`; a name written with escapes is decoded first. */
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

/** The one of these names that the member has. */
function nameAmong(bytes: Uint8Array, member: Member, names: readonly string[]): string | undefined {
  for (const name of names) if (isNamed(bytes, member, quotedName(name), name)) return name;
  return undefined;
}

/** Whether what stands there is this text in quotes, written without escapes. */
export function isQuoted(bytes: Uint8Array, { start, end }: Span, text: string): boolean {
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
    // Names are written in the code, so this stays small; the bound only guards against a caller that makes them up.
    if (quotedNames.size < 1000) quotedNames.set(name, quoted);
  }
  return quoted;
}

function hasByteOrderMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}
