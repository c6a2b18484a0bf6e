/** The sandbox's voice: a tone for each word, as samples or as a real WAV. */
import { GatewayError } from '../canonical/errors.ts';
import { tokensOf } from './tokens.ts';

export interface Sound {
  bytes: Uint8Array;
  mimeType: string;
  /** What it is billed as. */
  tokens: number;
  seconds: number;
}

export const SAMPLE_RATE = 24_000;
const WORD_SECONDS = 0.08;
const LOUDNESS = 6000;
const LOWEST_HZ = 110;

/** The same words in the same voice give the same bytes. */
export function speak(words: string, voice: string, format: string, param = 'audio.format'): Sound {
  const write = FORMATS[format];
  if (!write) {
    const sentence = `The sandbox speaks ${Object.keys(FORMATS).join(', ')}, not \`${format}\`.`;
    throw new GatewayError('invalid_request', sentence, { param });
  }
  const tones = tokensOf(words).filter((token) => /\w/.test(token));
  const perTone = Math.round(WORD_SECONDS * SAMPLE_RATE);
  const samples = Buffer.alloc(tones.length * perTone * 2);
  for (const [place, tone] of tones.entries()) {
    const pitch = LOWEST_HZ * 2 ** (Number(BigInt(Bun.hash(voice + tone.trim())) % 24n) / 12);
    for (let at = 0; at < perTone; at++) {
      const swell = Math.sin((Math.PI * at) / perTone);
      const sample = Math.round(LOUDNESS * swell * Math.sin((2 * Math.PI * pitch * at) / SAMPLE_RATE));
      samples.writeInt16LE(sample, (place * perTone + at) * 2);
    }
  }
  return { ...write(samples), tokens: tones.length, seconds: (tones.length * perTone) / SAMPLE_RATE };
}

const raw = (bytes: Uint8Array) => ({ bytes, mimeType: 'audio/pcm' });
const FORMATS: { readonly [format: string]: (samples: Uint8Array) => { bytes: Uint8Array; mimeType: string } } = {
  wav: (samples) => ({ bytes: wavOf(samples), mimeType: 'audio/wav' }),
  pcm16: raw,
  pcm: raw,
};

/** 16 bit samples, one channel, as a WAV. */
export function wavOf(samples: Uint8Array, rate = SAMPLE_RATE): Uint8Array {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
