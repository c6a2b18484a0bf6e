/** Splits a JSON array into its elements while it arrives. No byte is lost. */
import { BACKSLASH, CLOSE_OBJECT, OPEN_OBJECT, QUOTE } from '../../canonical/ascii.ts';
import { GatewayError } from '../../canonical/errors.ts';

/** An element with the separators before it. `start` and `end`: the range of the element itself. */
export interface ArrayElement {
  bytes: Uint8Array;
  start: number;
  end: number;
}

const DEFAULT_MAX_ELEMENT_BYTES = 64 * 1024 * 1024;
const SMALLEST_HELD = 1024;

/**
 * The elements are objects; everything between them is a separator. A single object without an array is an element too.
 */
export class ArrayCutter {
  readonly #maxElementBytes: number;
  #held = new Uint8Array(SMALLEST_HELD);
  #length = 0;
  #scanned = 0;
  #start = -1;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(maxElementBytes = DEFAULT_MAX_ELEMENT_BYTES) {
    this.#maxElementBytes = maxElementBytes;
  }

  /** Returns the elements that `chunk` completes. Throws `upstream_failed` for one over the size limit. */
  read(chunk: Uint8Array): ArrayElement[] {
    this.#hold(chunk);
    const elements: ArrayElement[] = [];
    let taken = 0;
    for (; this.#scanned < this.#length; this.#scanned++) {
      if (!this.#endsObject(this.#held[this.#scanned])) continue;
      const end = this.#scanned + 1;
      elements.push({ bytes: this.#held.slice(taken, end), start: this.#start - taken, end: end - taken });
      taken = end;
    }
    if (taken > 0) {
      this.#held.copyWithin(0, taken, this.#length);
      this.#length -= taken;
      this.#scanned -= taken;
      this.#start -= taken;
    }
    return elements;
  }

  /** Returns the rest: separators, or an incomplete element. */
  end(): { bytes: Uint8Array; isBroken: boolean } {
    return { bytes: this.#held.slice(0, this.#length), isBroken: this.#depth > 0 };
  }

  #endsObject(byte: number | undefined): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
      return false;
    }
    if (byte === QUOTE) this.#isInString = this.#depth > 0;
    else if (byte === OPEN_OBJECT) {
      if (this.#depth++ === 0) this.#start = this.#scanned;
    } else if (byte === CLOSE_OBJECT && this.#depth > 0) return --this.#depth === 0;
    return false;
  }

  #hold(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#maxElementBytes + chunk.length) {
      const bound = `${this.#maxElementBytes} bytes`;
      throw new GatewayError('upstream_failed', `The model's reply held an element of more than ${bound}.`);
    }
    if (needed > this.#held.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#length);
    this.#length = needed;
  }
}
