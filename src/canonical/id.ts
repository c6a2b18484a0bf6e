/** Random identifiers: a prefix and characters of [0-9A-Za-z]. */

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// One call into the random source serves many ids: it costs more than the id.
const pool = new Uint8Array(4096);
let next = pool.length;

/** `prefix` + `length` random characters (5.95 bits each). */
export function newId(prefix: string, length = 24): string {
  let id = prefix;
  for (let have = 0; have < length; ) {
    if (next === pool.length) {
      crypto.getRandomValues(pool);
      next = 0;
    }
    const value = pool[next++]! & 63;
    if (value < ALPHABET.length) {
      id += ALPHABET[value];
      have++;
    }
  }
  return id;
}

/** As `newId`, in the order of time: rows keyed by such ids are written side by side, which spares a database work. */
export function newTimedId(prefix: string, now: number): string {
  return newId(prefix + now.toString(36), 16);
}
