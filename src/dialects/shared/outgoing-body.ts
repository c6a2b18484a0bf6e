/** A request's body on its way to a provider: the client's own bytes, or members written from the call. Both are read and changed alike. */
import type { Call } from '../../canonical/call.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import type { Written } from '../dialect.ts';
import { type MemberPlace, memberPlaces, parsedAt, patchPlaces, placeNamed } from '../wire/json.ts';

export interface OutgoingBody {
  get(name: string): Json | undefined;
  /** Sets a top-level member, or (`undefined`) removes it. */
  set(name: string, value: Json | undefined): void;
  encode(): Uint8Array;
}

const encoder = new TextEncoder();

/** Members that a dialect has written; the object is the body's own from then on. */
export class WrittenBody implements OutgoingBody {
  readonly #members: JsonObject;

  /** Members that are `undefined` are left out. */
  constructor(members: { readonly [member: string]: Json | undefined }) {
    this.#members = {};
    for (const name in members) {
      const value = members[name];
      if (value !== undefined) this.#members[name] = value;
    }
  }

  get(name: string): Json | undefined {
    return this.#members[name];
  }

  set(name: string, value: Json | undefined): void {
    if (value === undefined) delete this.#members[name];
    else this.#members[name] = value;
  }

  members(): JsonObject {
    return this.#members;
  }

  encode(): Uint8Array {
    return encoder.encode(JSON.stringify(this.#members));
  }

  /** The same in pieces, between which others are served. */
  async encodeInPieces(): Promise<Uint8Array> {
    const text = JSON.stringify(this.#members);
    const bytes = Buffer.allocUnsafe(Buffer.byteLength(text));
    let written = 0;
    for (let from = 0; from < text.length; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const to = pieceEnd(text, from);
      written += encoder.encodeInto(text.slice(from, to), bytes.subarray(written)).written;
      from = to;
    }
    return bytes;
  }
}

/** Characters encoded at once: those beyond ASCII take 6 ns each. */
const PIECE = 4_000_000;

/** Never within a pair of surrogates. */
function pieceEnd(text: string, from: number): number {
  const end = from + PIECE;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;

/** Encoding a call of more than this in one go keeps the event loop for long: 60 MB take 150 to 400 ms. */
const LARGE_BYTES = 1024 * 1024;
const NO_BYTES = new Uint8Array();

/** What a dialect made of a call: bytes, or the members of a large body, which are encoded when it is sent. */
export function writtenFor(call: Call, body: WrittenBody, warnings: string[]): Written {
  return call.origin.body.byteLength > LARGE_BYTES
    ? { body: NO_BYTES, late: body, warnings }
    : { body: body.encode(), warnings };
}

/**
 * A client's own bytes. What is not changed stays byte for byte; a member that stands there twice is sent once, with the
 * value that it was read with (the last): a server that takes the first would answer another request than was held for.
 */
export class OwnBody implements OutgoingBody {
  readonly #bytes: Uint8Array;
  readonly #places: readonly MemberPlace[];
  readonly #changes: { [name: string]: Json | undefined } = {};
  #isChanged: boolean;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#places = memberPlaces(bytes);
    this.#isChanged = hasRepeated(this.#places);
  }

  /** Parsed anew each time unless it was set. */
  get(name: string): Json | undefined {
    if (name in this.#changes) return this.#changes[name];
    const place = placeNamed(this.#bytes, this.#places, name);
    return place && parsedAt(this.#bytes, place.valueStart, place.end);
  }

  set(name: string, value: Json | undefined): void {
    if (value === undefined && !(name in this.#changes) && !placeNamed(this.#bytes, this.#places, name)) return;
    this.#changes[name] = value;
    this.#isChanged = true;
  }

  encode(): Uint8Array {
    return this.#isChanged ? patchPlaces(this.#bytes, this.#places, this.#changes) : this.#bytes;
  }
}

function hasRepeated(places: readonly MemberPlace[]): boolean {
  for (const { isRepeated } of places) if (isRepeated) return true;
  return false;
}
