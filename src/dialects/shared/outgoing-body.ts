/**
 * A request body on its way to a provider: the client's own bytes, or members written from the call. Both are read and
 * changed through the same interface.
 */
import { OPEN_OBJECT } from '../../canonical/ascii.ts';
import type { Call } from '../../canonical/call.ts';
import type { Json, JsonObject } from '../../canonical/json.ts';
import { yieldToLoop } from '../../canonical/yield-to-loop.ts';
import type { Written } from '../dialect.ts';
import {
  beginsObject,
  type MemberPlace,
  memberPlaces,
  parsedAt,
  patchPlaces,
  placeNamed,
  replaceOnly,
} from '../wire/json.ts';

export interface OutgoingBody {
  get(name: string): Json | undefined;
  /** Sets a top-level member; `undefined` removes it. */
  set(name: string, value: Json | undefined): void;
  encode(): Uint8Array;
}

const encoder = new TextEncoder();

/** A body that a dialect has written. It takes ownership of the object. */
export class WrittenBody implements OutgoingBody {
  readonly #members: JsonObject;

  /** Members with the value `undefined` are left out. */
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
    if (value !== undefined) this.#members[name] = value;
    else if (this.#members[name] !== undefined) delete this.#members[name];
  }

  members(): JsonObject {
    return this.#members;
  }

  encode(): Uint8Array {
    return encoder.encode(JSON.stringify(this.#members));
  }

  /** Encodes in pieces, so that other requests are served in between. */
  async encodeInPieces(): Promise<Uint8Array> {
    const text = JSON.stringify(this.#members);
    const bytes = Buffer.allocUnsafe(Buffer.byteLength(text));
    let written = 0;
    for (let from = 0; from < text.length; ) {
      await yieldToLoop();
      const to = pieceEnd(text, from);
      written += encoder.encodeInto(text.slice(from, to), bytes.subarray(written)).written;
      from = to;
    }
    return bytes;
  }
}

/** How many characters are encoded at once. Characters beyond ASCII take 6 ns each. */
const PIECE = 1_000_000;

/** Never splits a surrogate pair. */
function pieceEnd(text: string, from: number): number {
  const end = from + PIECE;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
}

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit < 0xdc00;

/** A larger body is encoded in pieces: encoding 60 MB at once blocks the event loop for 150 to 400 ms. */
const LARGE_BYTES = 1024 * 1024;
const NO_BYTES = new Uint8Array();

/** Returns encoded bytes, or the members of a large body to be encoded when it is sent. */
export function writtenFor(call: Call, body: WrittenBody, warnings: string[]): Written {
  return call.origin.body.byteLength > LARGE_BYTES
    ? { body: NO_BYTES, late: body, warnings }
    : { body: body.encode(), warnings };
}

/**
 * A client's own bytes. Members that are not changed stay byte for byte. A member that occurs twice is sent once, with
 * the value that was priced (the last one), because some servers read the first.
 */
export class OwnBody implements OutgoingBody {
  readonly #bytes: Uint8Array;
  /** Listed when they are first needed: most bodies only get another model's name. */
  #listed: readonly MemberPlace[] | undefined;
  readonly #changes: { [name: string]: Json | undefined } = {};
  /** How many members were changed, repeatedly or not. */
  #changed = 0;

  /** Throws `invalid_request` if the bytes do not begin as a JSON object. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    if (bytes[0] !== OPEN_OBJECT && !beginsObject(bytes)) this.#listed = memberPlaces(bytes);
  }

  get #places(): readonly MemberPlace[] {
    this.#listed ??= memberPlaces(this.#bytes);
    return this.#listed;
  }

  /** Parses the member at each call, unless it was set. */
  get(name: string): Json | undefined {
    if (name in this.#changes) return this.#changes[name];
    const place = placeNamed(this.#bytes, this.#places, name);
    return place && parsedAt(this.#bytes, place.valueStart, place.end);
  }

  set(name: string, value: Json | undefined): void {
    if (value === undefined && !(name in this.#changes) && !placeNamed(this.#bytes, this.#places, name)) return;
    this.#changes[name] = value;
    this.#changed++;
  }

  encode(): Uint8Array {
    if (this.#changed === 1) {
      const replaced = this.#withOne();
      if (replaced) return replaced;
    }
    const isChanged = this.#changed > 0 || hasRepeated(this.#places);
    return isChanged ? patchPlaces(this.#bytes, this.#places, this.#changes) : this.#bytes;
  }

  #withOne(): Uint8Array | undefined {
    for (const name in this.#changes) {
      const value = this.#changes[name];
      return value === undefined ? undefined : replaceOnly(this.#bytes, name, value);
    }
    return undefined;
  }
}

function hasRepeated(places: readonly MemberPlace[]): boolean {
  for (const { isRepeated } of places) if (isRepeated) return true;
  return false;
}
