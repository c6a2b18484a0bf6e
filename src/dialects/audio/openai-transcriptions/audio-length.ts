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

const HEADER_BYTES = 44;
const RATE_AT = 28;
const USUAL_BYTES_PER_SECOND = 16_000;
/** The lowest bit rate at which speech is intelligible (16 kbit/s). */
const FEWEST_BYTES_PER_SECOND = 2000;

export function lengthOf({ head, size }: Upload): AudioLength {
  const start = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const isWave = size > HEADER_BYTES && start.toString('latin1', 0, 4) === 'RIFF';
  const rate = isWave ? start.readUInt32LE(RATE_AT) : 0;
  if (rate > 0) {
    const seconds = (size - HEADER_BYTES) / rate;
    return { seconds, mostSeconds: seconds };
  }
  return { seconds: size / USUAL_BYTES_PER_SECOND, mostSeconds: size / FEWEST_BYTES_PER_SECOND };
}
