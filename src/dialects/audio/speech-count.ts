/** Estimates the usage of speech, when the provider reports none or has not reported it yet. */
import type { SpeechCall } from '../../canonical/call.ts';
import type { Usage } from '../../canonical/usage.ts';
import { secondsOf } from './speech-formats.ts';

/** Estimated audio tokens per second of speech, and bytes per token of text. */
const TOKENS_PER_SECOND = 25;
const BYTES_PER_TOKEN = 4;

/**
 * Counts the audio as it arrives. The whole text is charged as soon as any audio arrived; the audio is charged by its
 * length.
 */
export function speechCounter(call: SpeechCall): (audio: Uint8Array) => Usage {
  const input = Math.ceil(Buffer.byteLength(call.input + (call.instructions ?? '')) / BYTES_PER_TOKEN);
  const characters = charactersIn(call.input);
  let heard = 0;
  return (audio) => {
    heard += audio.length;
    const seconds = secondsOf(heard, call.format);
    const output = Math.ceil(seconds * TOKENS_PER_SECOND);
    return { input, output, audioOutput: output, characters, seconds, source: 'counted' };
  };
}

/** Counts code points, as providers do: an emoji is one character. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
