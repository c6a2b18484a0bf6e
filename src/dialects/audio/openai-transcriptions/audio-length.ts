/** How long an audio file is, by its bytes: exact for a WAV, else by what packed audio takes. */
import type { Upload } from '../../../canonical/upload.ts';

export interface AudioLength {
  /** The likeliest. */
  seconds: number;
  /** What it is at most, where only a packed size is known. */
  mostSeconds: number;
}

const HEADER_BYTES = 44;
const RATE_AT = 28;
const USUAL_BYTES_PER_SECOND = 16_000;
/** Speech packed as small as it is still understood. */
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
