/** What speech is counted as, where its provider says nothing or has not said it yet. */
import type { SpeechCall } from '../../canonical/call.ts';
import type { Usage } from '../../canonical/usage.ts';
import { secondsOf } from './speech-formats.ts';

/** What a second of speech is counted as where the provider says nothing, and the bytes of a token of text. */
const TOKENS_PER_SECOND = 25;
const BYTES_PER_TOKEN = 4;

/** Counts what was spoken: the whole text is charged as soon as any of it is heard, the audio by its length. */
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

/** Code points: no provider charges an emoji twice. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
