/** Joins pieces of base64 with padding into one valid base64 text. */

const BYTES_PER_GROUP = 3;

export class Base64Join {
  #rest: Uint8Array = new Uint8Array(0);

  /** Adds a piece and returns what can be written now. */
  add(base64: string): string {
    if (this.#rest.length === 0 && base64.length % 4 === 0 && !base64.endsWith('=')) return base64;
    const bytes = Buffer.concat([this.#rest, Buffer.from(base64, 'base64')]);
    const whole = bytes.length - (bytes.length % BYTES_PER_GROUP);
    this.#rest = bytes.subarray(whole);
    return bytes.subarray(0, whole).toString('base64');
  }

  end(): string {
    return Buffer.from(this.#rest).toString('base64');
  }
}
