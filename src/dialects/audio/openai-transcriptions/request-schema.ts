/** The form fields of a transcription request. Descriptions follow the words "must be". */
import { type TProperties, Type } from 'typebox';
import { boolean, number, oneOf, text } from '../../shared/request-shape.ts';

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;

const FIELDS = {
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  language: text({ $about: 'The language of the audio, in two letters.' }),
  prompt: text({ $about: 'Words that the audio is likely to contain.' }),
  response_format: oneOf(TRANSCRIPT_FORMATS, { default: 'json' }),
  temperature: number(0, 1),
  stream: boolean({ default: false, $about: 'Whether the text is streamed as server-sent events.' }),
} satisfies TProperties;

export const TranscriptionFields = Type.Object(FIELDS);

/** The complete form, for the API documentation. */
export const transcriptionForm = () =>
  Type.Object(
    { file: Type.String({ format: 'binary', $about: 'The audio.' }), ...FIELDS },
    { $name: 'TranscriptionRequest' },
  );
