/** Slices of bytes without a view of them: a view makes the runtime keep an object for the memory behind, which costs as much as copying some kilobytes. */

/** More is shared instead of copied. */
const COPIED_BYTES = 8 * 1024;

/** The bytes from `from` to before `to`; shares their memory only where it is long. */
export function sliceBytes(bytes: Buffer, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from > COPIED_BYTES) return bytes.subarray(from, to);
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
