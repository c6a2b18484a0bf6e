/**
 * Slices of bytes without a view: a view makes the runtime keep an object for the underlying memory, which costs as much as copying some
 * kilobytes.
 */

/** Above this size a view is cheaper than a copy. */
const COPIED_BYTES = 8 * 1024;

/** The bytes from `from` up to but excluding `to`. Shares memory only if the slice is long. */
export function sliceBytes(bytes: Buffer, from: number, to: number): Uint8Array {
  if (from === 0 && to === bytes.length) return bytes;
  if (to - from > COPIED_BYTES) return bytes.subarray(from, to);
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
