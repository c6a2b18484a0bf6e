/** The request schema of speech. Descriptions follow the words "must be". */
import { Type } from 'typebox';
import { number, oneOf, open } from '../../shared/request-shape.ts';
import { SPEECH_FORMATS } from '../speech-formats.ts';

/** The limits of `speed` at OpenAI. */
const SLOWEST = 0.25;
const FASTEST = 4;

export const SpeechRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'the name of a model' }),
    input: Type.String({ minLength: 1, description: 'a text that is not empty' }),
    voice: open(
      Type.Union([Type.String(), Type.Object({ id: Type.Optional(Type.Union([Type.String(), Type.Null()])) })]),
      'the name of a voice, or an object with its `id`',
    ),
    instructions: open(Type.String(), 'a text', { $about: 'How to speak the text: tone, speed, accent.' }),
    response_format: oneOf(SPEECH_FORMATS, { default: 'mp3' }),
    speed: number(SLOWEST, FASTEST, { default: 1 }),
    stream_format: oneOf(['audio', 'sse'], {
      default: 'audio',
      $about: '`audio`: audio bytes. `sse`: server-sent events.',
    }),
  },
  { $name: 'SpeechRequest' },
);
