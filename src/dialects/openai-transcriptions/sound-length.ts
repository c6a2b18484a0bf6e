/** How long a sound is, by its bytes: exact for a WAV, else by what packed sound takes. */

export interface SoundLength {
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

export function lengthOf(bytes: Uint8Array): SoundLength {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWave = file.length > HEADER_BYTES && file.toString('latin1', 0, 4) === 'RIFF';
  const rate = isWave ? file.readUInt32LE(RATE_AT) : 0;
  if (rate > 0) {
    const seconds = (file.length - HEADER_BYTES) / rate;
    return { seconds, mostSeconds: seconds };
  }
  return { seconds: file.length / USUAL_BYTES_PER_SECOND, mostSeconds: file.length / FEWEST_BYTES_PER_SECOND };
}
