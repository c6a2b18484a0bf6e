/** Parts of bytes, as bytes and as text. */

/**
 * Up to this size a copy is cheaper than a view: for a view the runtime keeps an object for the underlying memory, which costs as much as
 * copying some kilobytes.
 */
const COPIED_BYTES = 8 * 1024;

/** The bytes from `from` up to but excluding `to`. Shares memory only if the slice is long. */
export function sliceBytes(bytes: Buffer, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from > COPIED_BYTES) return bytes.subarray(from, to);
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}

/** A Buffer as Node and Bun have it. Its types leave out the methods for one encoding, which do not read the encoding's name. */
interface Latin1Buffer extends Buffer {
  latin1Slice(from: number, to: number): string;
  latin1Write(text: string, at: number): number;
}

/** The text of these bytes, one character for each byte. */
export function latin1(bytes: Buffer, from: number, to: number): string {
  return (bytes as Latin1Buffer).latin1Slice(from, to);
}

/** The text of these bytes; `usual` itself if it is equal, which is cheaper than a new string. */
export function latin1Like(usual: string, bytes: Buffer, from: number, to: number): string {
  if (to - from !== usual.length) return latin1(bytes, from, to);
  for (let i = 0; i < usual.length; i++) if (bytes[from + i] !== usual.charCodeAt(i)) return latin1(bytes, from, to);
  return usual;
}

/** Writes the text at this place, one byte for each character. */
export function writeLatin1(bytes: Buffer, text: string, at: number): void {
  (bytes as Latin1Buffer).latin1Write(text, at);
}
