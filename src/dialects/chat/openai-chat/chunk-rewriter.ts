/** Adapts the chunks of a provider of this format to the client. */
import { bytesEqualAt, copyStretch } from '../../../canonical/bytes.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { memberSpan, spliceBytes } from '../../wire/json.ts';
import type { Example, LikeFrame } from '../reply/repeat-event.ts';
import type { ChatFrame } from './read-reply.ts';

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
/** An empty usage member in the spellings of providers. The unescaped quotes cannot occur inside a text. */
const NO_USAGE = [encoder.encode(',"usage":null'), encoder.encode(', "usage": null')];

/** What is replaced in all frames of one likeness: their first bytes by others, and the first bytes of their last ones by none. */
interface Marking {
  readonly like: Example;
  /** No part of that is in the text. If it is, it is searched for in every frame. */
  readonly isOutsideText: boolean;
  readonly head: number;
  readonly newHead: Uint8Array;
  readonly tail: number;
  readonly cut: number;
}

/** Replaces the model name in a chunk, and removes `usage: null` unless the client asked for usage. */
export class ChunkRewriter {
  readonly #name: string;
  readonly #quoted: Uint8Array;
  readonly #wantsUsage: boolean;
  // Chunks of a stream have the same bytes up to the model name. Comparing them with the last chunk usually avoids a
  // search.
  #head: Uint8Array = NO_BYTES;
  #newHead: Uint8Array = NO_BYTES;
  // They also have the same bytes after the empty usage; this is that ending, and how much of it to remove.
  #tail: Uint8Array = NO_BYTES;
  #cut = 0;
  #marking: Marking | undefined;

  constructor(name: string, wantsUsage: boolean) {
    this.#name = name;
    this.#quoted = encoder.encode(JSON.stringify(name));
    this.#wantsUsage = wantsUsage;
  }

  /** As `inEvent`, without looking again at what frames of the same likeness have in common. */
  inLike({ bytes, like }: LikeFrame): Uint8Array {
    if (this.#marking?.like !== like) this.#marking = this.#markingOf(bytes, like);
    const { isOutsideText, head, newHead, tail, cut } = this.#marking;
    if (!isOutsideText) return this.#inBytes(bytes, like.jsonStart, like.hasNullUsage);
    if (head === 0 && cut === 0) return bytes;
    const tailStart = bytes.length - tail;
    const longer = newHead.length - head;
    const marked = Buffer.allocUnsafe(bytes.length + longer - cut);
    marked.set(newHead);
    copyStretch(bytes, head, tailStart, marked, newHead.length);
    if (tail > cut) copyStretch(bytes, tailStart + cut, bytes.length, marked, tailStart + longer);
    return marked;
  }

  #markingOf(bytes: Uint8Array, like: Example): Marking {
    const named = this.#named(bytes, like.jsonStart);
    const isNamed = named !== bytes;
    const isCut = this.#inBytes(bytes, like.jsonStart, like.hasNullUsage).length < named.length;
    const head = isNamed ? this.#head.length : 0;
    const tail = isCut ? this.#tail.length : 0;
    return {
      like,
      isOutsideText: head <= like.before.length && tail <= like.after.length,
      head,
      newHead: isNamed ? this.#newHead : NO_BYTES,
      tail,
      cut: isCut ? this.#cut : 0,
    };
  }

  inEvent({ bytes, jsonStart, hasNullUsage }: ChatFrame): Uint8Array {
    return this.#inBytes(bytes, jsonStart, hasNullUsage);
  }

  #inBytes(bytes: Uint8Array, jsonStart: number, hasNullUsage: boolean): Uint8Array {
    const named = this.#named(bytes, jsonStart);
    if (this.#wantsUsage || !hasNullUsage) return named;
    const { length } = this.#tail;
    const at = named.length - length;
    if (length > 0 && bytesEqualAt(named, at, this.#tail)) return spliceBytes(named, at, at + this.#cut, NO_BYTES);
    const text = Buffer.from(named.buffer, named.byteOffset, named.length);
    for (const nothing of NO_USAGE) {
      const found = text.indexOf(nothing);
      if (found < 0) continue;
      this.#tail = named.slice(found);
      this.#cut = nothing.length;
      return spliceBytes(named, found, found + nothing.length, NO_BYTES);
    }
    return named;
  }

  #named(bytes: Uint8Array, jsonStart: number): Uint8Array {
    if (this.#head.length === 0 || !bytesEqualAt(bytes, 0, this.#head)) {
      const span = memberSpan(bytes, 'model', jsonStart);
      if (!span) return bytes;
      this.#head = bytes.slice(0, span.end);
      this.#newHead = spliceBytes(this.#head, span.start, span.end, this.#quoted);
      if (isSame(this.#head, this.#newHead)) this.#newHead = this.#head;
    }
    if (this.#newHead === this.#head) return bytes;
    return spliceBytes(bytes, 0, this.#head.length, this.#newHead);
  }

  events(payloads: readonly JsonObject[]): string {
    let text = '';
    for (const payload of payloads) {
      const named: JsonObject = 'model' in payload ? { ...payload, model: this.#name } : { ...payload };
      if (!this.#wantsUsage && named.usage === null) delete named.usage;
      text += `data: ${JSON.stringify(named)}\n\n`;
    }
    return text;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && bytesEqualAt(a, 0, b);
}
