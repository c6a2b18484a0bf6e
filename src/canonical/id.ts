/** Random identifiers: a prefix and characters of [0-9A-Za-z]. */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Random characters made in advance, because one call to the random source costs more than many ids. */
const POOL_BYTES = 4096;
let pool = '';
let next = 0;

/** `prefix` plus `length` random characters (5.95 bits each). */
export function newId(prefix: string, length = 24): string {
  if (next + length > pool.length) refill();
  const from = next;
  next += length;
  return prefix + pool.slice(from, next);
}

function refill(): void {
  const bytes = Buffer.allocUnsafe(POOL_BYTES);
  crypto.getRandomValues(bytes);
  let filled = 0;
  for (const byte of bytes) {
    const value = byte & 63;
    if (value < ALPHABET.length) bytes[filled++] = ALPHABET.charCodeAt(value);
  }
  pool = bytes.toString('latin1', 0, filled);
  next = 0;
}

/** The last millisecond of an id, and its text: many ids have the same. */
let stampedAt = 0;
let stamp = '0';

/** As `newId`, but ids sort by time: rows with such keys are stored together, which is faster. */
export function newTimedId(prefix: string, now: number): string {
  if (now !== stampedAt) {
    stampedAt = now;
    stamp = now.toString(36);
  }
  return newId(prefix + stamp, 16);
}
