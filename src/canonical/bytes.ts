/**
 * Slices of bytes without a view: a view makes the runtime keep an object for the underlying memory, which costs as much as copying some
 * kilobytes.
 */

/** Above this size a view is cheaper than a copy. */
const COPIED_BYTES = 8 * 1024;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The bytes from `from` up to but excluding `to`. Shares memory only if the slice is long. */
export function sliceBytes(bytes: Uint8Array, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from > COPIED_BYTES || !(bytes instanceof Buffer)) return bytes.subarray(from, to);
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}

/** The same slice as text in UTF-8. A byte order mark at its beginning is kept. */
export function textIn(bytes: Uint8Array, from: number, to: number): string {
  return bytes instanceof Buffer ? bytes.toString('utf8', from, to) : decoder.decode(bytes.subarray(from, to));
}

/** As Node and Bun have it. Its types leave out the methods for one encoding, which do not read the encoding's name. */
interface Latin1Slices extends Buffer {
  latin1Slice(from: number, to: number): string;
}

/** The same of bytes below 128, in half the time. */
export function asciiIn(bytes: Uint8Array, from: number, to: number): string {
  return bytes instanceof Buffer
    ? (bytes as Latin1Slices).latin1Slice(from, to)
    : decoder.decode(bytes.subarray(from, to));
}

/** Fewer bytes are compared one by one. */
const FEW_BYTES = 32;
/** A range of up to so many bytes is copied and compared as a whole: `equals` and `copy` take half the time of `compare` with a range. */
const MOST_COMPARED_BYTES = 1024;
/** Where such a range is copied to, by its length. */
const copies: Buffer[] = [];

/** Whether the bytes at this position equal `wanted`. */
export function bytesEqualAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  const { length } = wanted;
  if (at + length > bytes.length) return false;
  if (length > FEW_BYTES && bytes instanceof Buffer) {
    if (length > MOST_COMPARED_BYTES) return bytes.compare(wanted, 0, length, at, at + length) === 0;
    copies[length] ??= Buffer.allocUnsafeSlow(length);
    bytes.copy(copies[length], 0, at, at + length);
    return copies[length].equals(wanted);
  }
  for (let i = 0; i < length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** Copies the bytes from `from` up to but excluding `to` into `target` at `at`. */
export function copyStretch(bytes: Uint8Array, from: number, to: number, target: Buffer, at: number): void {
  if (bytes instanceof Buffer) bytes.copy(target, at, from, to);
  else target.set(bytes.subarray(from, to), at);
}
