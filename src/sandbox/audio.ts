/** The sandbox's speech: a tone for each word, as samples or as a WAV file. */

import { GatewayError } from '../canonical/errors.ts';
import { formatHeader } from '../dialects/wire/wave.ts';
import { tokensIn } from './tokens.ts';

export interface AudioData {
  /** The bytes in order, generated as they are read: a header if the format has one, then one piece per tone. */
  pieces(): Iterable<Uint8Array>;
  mimeType: string;
  /** The billed tokens. */
  tokens: number;
  seconds: number;
}

export const SAMPLE_RATE = 24_000;
const WORD_SECONDS = 0.08;
const TONE_SAMPLES = Math.round(WORD_SECONDS * SAMPLE_RATE);
const TONE_BYTES = TONE_SAMPLES * 2;
const LOUDNESS = 6000;
const LOWEST_HZ = 110;
/** Two octaves. */
const PITCHES = 24;

/** The same words and voice give the same bytes. */
export function speak(words: string, voice: string, format: string, param = 'audio.format'): AudioData {
  const form = FORMATS[format];
  if (!form) {
    const sentence = `The sandbox generates ${Object.keys(FORMATS).join(', ')}, not \`${format}\`.`;
    throw new GatewayError('invalid_request', sentence, { param });
  }
  const pitches: number[] = [];
  for (const token of tokensIn(words))
    if (/\w/.test(token)) pitches.push(Number(BigInt(Bun.hash(voice + token.trim())) % BigInt(PITCHES)));
  return {
    *pieces() {
      if (form.head) yield form.head(pitches.length * TONE_BYTES);
      for (const pitch of pitches) yield toneOf(pitch);
    },
    mimeType: form.mimeType,
    tokens: pitches.length,
    seconds: (pitches.length * TONE_SAMPLES) / SAMPLE_RATE,
  };
}

/** Tones generated so far, by pitch. */
const tones: (Uint8Array | undefined)[] = [];

function toneOf(pitch: number): Uint8Array {
  const known = tones[pitch];
  if (known) return known;
  const hertz = LOWEST_HZ * 2 ** (pitch / 12);
  const samples = Buffer.alloc(TONE_BYTES);
  for (let at = 0; at < TONE_SAMPLES; at++) {
    const swell = Math.sin((Math.PI * at) / TONE_SAMPLES);
    const sample = Math.round(LOUDNESS * swell * Math.sin((2 * Math.PI * hertz * at) / SAMPLE_RATE));
    samples.writeInt16LE(sample, at * 2);
  }
  tones[pitch] = samples;
  return samples;
}

const raw = { mimeType: 'audio/pcm' };
const FORMATS: { readonly [format: string]: { mimeType: string; head?: (bytes: number) => Uint8Array } } = {
  wav: { mimeType: 'audio/wav', head: (bytes) => wavHead(bytes) },
  pcm16: raw,
  pcm: raw,
};

/** 16-bit mono samples as a WAV file. */
export function wavOf(samples: Uint8Array, rate = SAMPLE_RATE): Uint8Array {
  return Buffer.concat([wavHead(samples.length, rate), samples]);
}

function wavHead(bytes: number, rate = SAMPLE_RATE): Uint8Array {
  const header = formatHeader(44, bytes, rate);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
