/**
 * Derives the length of an audio file from its bytes: exact for WAV, estimated from the usual bit rates for compressed
 * audio.
 */
import type { Upload } from '../../../canonical/upload.ts';

export interface AudioLength {
  /** The most likely length. */
  seconds: number;
  /** The maximum length, where only the compressed size is known. */
  mostSeconds: number;
}

/** Where the chunks of a WAV file begin, and the length of the name and size before each. */
const CHUNKS = { at: 12, headBytes: 8, formatBytes: 16 };
const HEADER_BYTES = 44;
const EXTENSIBLE = 0xfffe;
/** Of a format that is extensible: its own tag is here. */
const TAG_AT = 24;
/** PCM, floating point, A-law and µ-law: what is decoded takes as many bytes as its rate, its channels and its bits say. */
const UNPACKED: ReadonlySet<number> = new Set([1, 3, 6, 7]);
/** Eight channels of 192 kHz and 32 bits. */
const MOST_RATE = 192_000 * 8 * 4;
/** Of compressed audio. The fewest: the lowest bit rate at which speech is intelligible (16 kbit/s). */
const BYTES_PER_SECOND = { usual: 16_000, fewest: 2000 };

export function lengthOf({ head, size }: Upload): AudioLength {
  const rate = waveRate(Buffer.from(head.buffer, head.byteOffset, head.byteLength));
  if (rate !== undefined && size > HEADER_BYTES) {
    const seconds = (size - HEADER_BYTES) / rate;
    return { seconds, mostSeconds: seconds };
  }
  return { seconds: size / BYTES_PER_SECOND.usual, mostSeconds: size / BYTES_PER_SECOND.fewest };
}

/**
 * The bytes of a second, from what a decoder reads. The header's own figure is not used: decoders ignore it, so that a false one would make
 * an hour as cheap as a second. `undefined`: it is no WAV file, or its audio is compressed.
 */
function waveRate(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, CHUNKS.at) !== 'WAVE') return undefined;
  for (let at = CHUNKS.at; at + CHUNKS.headBytes + CHUNKS.formatBytes <= head.length; ) {
    const size = head.readUInt32LE(at + 4);
    const data = at + CHUNKS.headBytes;
    if (head.toString('latin1', at, at + 4) === 'fmt ') return rateIn(head.subarray(data, data + size));
    // Chunks have an even length.
    at = data + size + (size % 2);
  }
  return undefined;
}

function rateIn(format: Buffer): number | undefined {
  if (format.length < CHUNKS.formatBytes) return undefined;
  const tag = format.readUInt16LE(0);
  const own = tag === EXTENSIBLE && format.length >= TAG_AT + 2 ? format.readUInt16LE(TAG_AT) : tag;
  const bytes = Math.ceil(format.readUInt16LE(14) / 8);
  const rate = format.readUInt16LE(2) * format.readUInt32LE(4) * bytes;
  return UNPACKED.has(own) && rate > 0 && rate <= MOST_RATE ? rate : undefined;
}
