/**
 * Counts tokens by byte-pair encoding with typed arrays. A vocabulary of 200,000 tokens takes 8 MB; a library's maps and string arrays take
 * 80 MB.
 */

/** Counts the tokens of a text. Special tokens count as ordinary text. */
export type CountTokens = (text: string) => number;

const NEWLINE = 10;
const BLANK = 32;
const ZERO = 48;
const NONE = 0x7fffffff;

/** The value of each base64 character; -1 for others, such as padding. */
const SIXES = new Int8Array(256).fill(-1);
for (const [six, sign] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  SIXES[sign.charCodeAt(0)] = six;

/** `vocabulary`: lines with a token in base64, a space, and its rank. `pattern`: splits a text before its bytes are merged. */
export function createByteCounter(vocabulary: Uint8Array, pattern: RegExp): CountTokens {
  const ranks = readRanks(vocabulary);
  const encoder = new TextEncoder();
  let bytes = new Uint8Array(1024);
  let starts = new Int32Array(1025);
  let joined = new Int32Array(1025);

  function grow(length: number): void {
    bytes = new Uint8Array(length);
    starts = new Int32Array(length + 1);
    joined = new Int32Array(length + 1);
  }

  /** Merges adjacent parts that the vocabulary contains, lowest rank first. Returns the number of parts left. */
  function parts(length: number): number {
    let count = length;
    for (let i = 0; i <= length; i++) starts[i] = i;
    const rankAt = (i: number) => (i + 2 > count ? NONE : ranks.of(bytes, starts[i]!, starts[i + 2]!));
    for (let i = 0; i < count; i++) joined[i] = rankAt(i);
    for (;;) {
      let best = 0;
      for (let i = 1; i < count - 1; i++) if (joined[i]! < joined[best]!) best = i;
      if (count < 2 || joined[best] === NONE) return count;
      starts.copyWithin(best + 1, best + 2, count + 1);
      joined.copyWithin(best + 1, best + 2, count);
      count--;
      joined[best] = rankAt(best);
      if (best > 0) joined[best - 1] = rankAt(best - 1);
    }
  }

  return (text) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(pattern)) {
      if (piece.length * 3 > bytes.length) grow(piece.length * 3);
      const { written } = encoder.encodeInto(piece, bytes);
      tokens += ranks.of(bytes, 0, written) === NONE ? parts(written) : 1;
    }
    return tokens;
  };
}

interface Ranks {
  /** The rank of these bytes, or `NONE` if they are not a token. */
  of(bytes: Uint8Array, from: number, to: number): number;
}

/** All tokens in one array, with the end of each by rank, and a hash table of ranks. Parsed without strings, which would be garbage. */
function readRanks(vocabulary: Uint8Array): Ranks {
  const lines = linesIn(vocabulary);
  // At most three bytes for four characters.
  const tokens = new Uint8Array(Math.ceil(vocabulary.length * 0.75));
  const ends = new Int32Array(lines);
  const size = 2 ** Math.ceil(Math.log2(lines * 2));
  /** The rank plus one; 0 means empty. */
  const table = new Int32Array(size);
  let end = 0;
  for (let rank = 0, at = 0; rank < lines; rank++) {
    const begin = end;
    let bits = 0;
    let held = 0;
    for (; at < vocabulary.length && vocabulary[at] !== BLANK; at++) {
      const six = SIXES[vocabulary[at] ?? 0]!;
      if (six < 0) continue;
      bits = (bits << 6) | six;
      held += 6;
      if (held >= 8) {
        held -= 8;
        tokens[end++] = (bits >> held) & 0xff;
      }
    }
    let written = 0;
    for (at++; at < vocabulary.length && vocabulary[at] !== NEWLINE; at++)
      written = written * 10 + vocabulary[at]! - ZERO;
    at++;
    if (written !== rank) throw new Error('The vocabulary is not in the order of its ranks.');
    ends[rank] = end;
    let slot = hash(tokens, begin, end) & (size - 1);
    while (table[slot] !== 0) slot = (slot + 1) & (size - 1);
    table[slot] = rank + 1;
  }

  function isAt(token: number, bytes: Uint8Array, from: number, to: number): boolean {
    const begin = token === 0 ? 0 : ends[token - 1]!;
    if (ends[token]! - begin !== to - from) return false;
    for (let i = from; i < to; i++) if (bytes[i] !== tokens[begin + i - from]) return false;
    return true;
  }

  return {
    of(bytes, from, to) {
      let slot = hash(bytes, from, to) & (size - 1);
      for (let found = table[slot]!; found !== 0; found = table[slot]!) {
        if (isAt(found - 1, bytes, from, to)) return found - 1;
        slot = (slot + 1) & (size - 1);
      }
      return NONE;
    },
  };
}

/** FNV-1a with a final mix, because slots use the low bits. */
function hash(bytes: Uint8Array, from: number, to: number): number {
  let value = 0x811c9dc5;
  for (let i = from; i < to; i++) value = Math.imul(value ^ bytes[i]!, 0x01000193);
  return value ^ (value >>> 15);
}

function linesIn(bytes: Uint8Array): number {
  let lines = bytes.at(-1) === NEWLINE ? 0 : 1;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
