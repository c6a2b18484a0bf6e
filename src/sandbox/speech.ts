/** The sandbox's speech: a tone for each word, sent in pieces of a tenth of a second. */
import type { SpeechCall } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import { charactersIn } from '../dialects/audio/speech-count.ts';
import { type AudioData, SAMPLE_RATE, speak } from './audio.ts';
import { piecesOf } from './reply-events.ts';

export const SPEECH_MODEL = 'sandbox-speech';
const PIECE_BYTES = (SAMPLE_RATE * 2) / 10;
/** OpenAI's limit. */
const MOST_CHARACTERS = 4096;

export function audioOf({ input, voice = '', format = 'wav' }: SpeechCall): AudioData {
  if (charactersIn(input) > MOST_CHARACTERS) {
    const sentence = `\`input\` must have at most ${MOST_CHARACTERS} characters.`;
    throw new GatewayError('invalid_request', sentence, { param: 'input' });
  }
  return speak(input, voice, format, 'response_format');
}

export function* audioEvents(call: SpeechCall, audio: AudioData): Generator<ReplyEvent[]> {
  for (const bytes of piecesOf(audio.pieces(), PIECE_BYTES))
    yield [{ type: 'result', result: { type: 'audio', bytes } }];
  const { tokens, seconds } = audio;
  const characters = charactersIn(call.input);
  const usage = { input: characters, output: tokens, characters, seconds, source: 'reported' as const };
  yield [{ type: 'usage', usage }, { type: 'reply-end' }];
}
