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

/** The header of a WAV file, and the offset of its bytes per second. */
const WAVE = { headerBytes: 44, rateAt: 28 };
/** Of compressed audio. The fewest: the lowest bit rate at which speech is intelligible (16 kbit/s). */
const BYTES_PER_SECOND = { usual: 16_000, fewest: 2000 };

export function lengthOf({ head, size }: Upload): AudioLength {
  const start = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const isWave = size > WAVE.headerBytes && start.toString('latin1', 0, 4) === 'RIFF';
  const rate = isWave ? start.readUInt32LE(WAVE.rateAt) : 0;
  if (rate > 0) {
    const seconds = (size - WAVE.headerBytes) / rate;
    return { seconds, mostSeconds: seconds };
  }
  return { seconds: size / BYTES_PER_SECOND.usual, mostSeconds: size / BYTES_PER_SECOND.fewest };
}
