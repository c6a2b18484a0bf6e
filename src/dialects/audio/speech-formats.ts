/** Audio formats of speech: media type, and bytes per second. */

/**
 * The bytes per second are the providers' usual bit rates. They are used if the length of the audio was not reported.
 */
const FORMATS = {
  mp3: { mimeType: 'audio/mpeg', bytesPerSecond: 16_000 },
  opus: { mimeType: 'audio/ogg', bytesPerSecond: 8000 },
  aac: { mimeType: 'audio/aac', bytesPerSecond: 16_000 },
  flac: { mimeType: 'audio/flac', bytesPerSecond: 24_000 },
  wav: { mimeType: 'audio/wav', bytesPerSecond: 48_000 },
  pcm: { mimeType: 'audio/pcm', bytesPerSecond: 48_000 },
  ogg: { mimeType: 'audio/ogg', bytesPerSecond: 8000 },
  mulaw: { mimeType: 'audio/basic', bytesPerSecond: 8000 },
} as const;

export type SpeechFormat = keyof typeof FORMATS;

export const SPEECH_FORMATS = Object.keys(FORMATS) as SpeechFormat[];
/** OpenAI's default. */
const USUAL = 'mp3';

export function isSpeechFormat(word: unknown): word is SpeechFormat {
  return typeof word === 'string' && Object.hasOwn(FORMATS, word);
}

export function mimeTypeOf(format: string = USUAL): string {
  return (isSpeechFormat(format) ? FORMATS[format] : FORMATS[USUAL]).mimeType;
}

export function secondsOf(bytes: number, format: string = USUAL): number {
  return bytes / (isSpeechFormat(format) ? FORMATS[format] : FORMATS[USUAL]).bytesPerSecond;
}
