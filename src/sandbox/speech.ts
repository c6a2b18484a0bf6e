/** The sandbox's speech: a tone for each word, a tenth of a second at a time. */
import type { SpeechCall } from '../canonical/call.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import { charactersIn } from '../dialects/speech-count.ts';
import { SAMPLE_RATE, type Sound, speak } from './sound.ts';

export const SPEECH_MODEL = 'sandbox-speech';
const PIECE_BYTES = (SAMPLE_RATE * 2) / 10;

export function soundOf({ input, voice = '', format = 'wav' }: SpeechCall): Sound {
  return speak(input, voice, format, 'response_format');
}

export function soundEvents(call: SpeechCall): ReplyEvent[][] {
  const { bytes, tokens, seconds } = soundOf(call);
  const pieces: ReplyEvent[][] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    pieces.push([{ type: 'result', result: { type: 'sound', bytes: bytes.subarray(at, at + PIECE_BYTES) } }]);
  const characters = charactersIn(call.input);
  const usage = { input: characters, output: tokens, characters, seconds, source: 'reported' as const };
  return [...pieces, [{ type: 'usage', usage }, { type: 'reply-end' }]];
}
