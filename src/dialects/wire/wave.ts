/** Wraps raw audio samples from a provider in a WAV file, for clients that asked for WAV. */

/**
 * The length of the WAV header. Two bytes of padding make it a multiple of three, so that its base64 can be put before
 * that of the samples.
 */
const HEADER_BYTES = 54;
/** The length field of a stream, whose length is not known yet. Players read to the end. */
const UNKNOWN = 0xffff_ffff;
const DEFAULT_RATE = 24_000;
const SAMPLES = /^audio\/(l16|pcm)\b/i;
const RAW_FORMATS: readonly string[] = ['pcm16', 'pcm'];

/** Whether audio of this type is raw samples. */
export const isSamples = (mimeType: string | undefined): mimeType is string =>
  mimeType !== undefined && SAMPLES.test(mimeType);

/** Whether these samples must be wrapped, because the client asked for WAV. */
export function needsWave(mimeType: string | undefined, format: string | undefined): mimeType is string {
  return isSamples(mimeType) && !RAW_FORMATS.includes(format ?? 'wav');
}

/** The first 36 of a header's bytes: what the file is, and the format of its samples, which are 16-bit PCM of one channel. */
export function formatHeader(headerBytes: number, sampleBytes: number | undefined, rate: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0);
  header.writeUInt32LE(sampleBytes === undefined ? UNKNOWN : sampleBytes + headerBytes - 8, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  return header;
}

/** `bytes`: the length of the samples, if all of them are known. */
export function waveHeader(mimeType: string, bytes?: number): Buffer {
  const rate = Number(/rate=(\d+)/.exec(mimeType)?.[1] ?? DEFAULT_RATE);
  const header = formatHeader(HEADER_BYTES, bytes, rate);
  header.write('JUNK', 36);
  header.writeUInt32LE(2, 40);
  header.write('data', 46);
  header.writeUInt32LE(bytes ?? UNKNOWN, 50);
  return header;
}

const LOUDEST = 0x7fff;

/** Converts float32 samples to 16-bit integers, the usual format of raw samples. */
export function wholeSamples(floats: Buffer): Buffer {
  const samples = Buffer.alloc(Math.floor(floats.length / 4) * 2);
  for (let at = 0; at < samples.length; at += 2) {
    const loudness = Math.max(-1, Math.min(1, floats.readFloatLE(at * 2)));
    samples.writeInt16LE(Math.round(loudness * LOUDEST), at);
  }
  return samples;
}
