/** Random identifiers: a prefix and characters of [0-9A-Za-z]. */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Random bytes generated in advance, because one call to the random source costs more than many ids. */
const pool = Buffer.alloc(4096);
let filled = 0;
let next = 0;

/** `prefix` plus `length` random characters (5.95 bits each). */
export function newId(prefix: string, length = 24): string {
  if (next + length > filled) refill();
  const from = next;
  next += length;
  return prefix + pool.toString('latin1', from, next);
}

function refill(): void {
  crypto.getRandomValues(pool);
  next = 0;
  filled = 0;
  for (const byte of pool) {
    const value = byte & 63;
    if (value < ALPHABET.length) pool[filled++] = ALPHABET.charCodeAt(value);
  }
}

/** As `newId`, but ids sort by time: rows with such keys are stored together, which is faster. */
export function newTimedId(prefix: string, now: number): string {
  return newId(prefix + now.toString(36), 16);
}
