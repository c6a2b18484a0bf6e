/** The request schema of text completions. Descriptions follow the words "must be". */
import { type Static, Type } from 'typebox';
import { boolean, type Notes, number, object, open, text } from '../../shared/request-shape.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const count = (minimum: number, notes?: Notes) =>
  open(Type.Integer({ minimum, maximum: MOST }), `an integer of at least ${minimum}`, notes);
const tokens = () => Type.Array(Type.Integer({ minimum: 0, maximum: MOST }), { minItems: 1 });

export const CompletionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'the name of a model' }),
    prompt: Type.Union(
      [Type.String(), Type.Array(Type.String(), { minItems: 1 }), tokens(), Type.Array(tokens(), { minItems: 1 })],
      {
        description: 'a string, an array of strings, an array of token ids, or an array of such arrays',
        $means: 'messages',
      },
    ),
    stream: boolean({ default: false, $about: 'Whether the response is a stream of server-sent events.' }),
    stream_options: object({ $about: 'With `include_usage: true` the last event of a stream contains the usage.' }),
    max_tokens: count(0, { $about: 'The maximum of generated tokens for each prompt.' }),
    temperature: number(0, 2, { default: 1 }),
    top_p: number(0, 1, { default: 1 }),
    presence_penalty: number(-2, 2),
    frequency_penalty: number(-2, 2),
    seed: open(Type.Integer({ minimum: -MOST, maximum: MOST }), 'an integer'),
    n: count(1, { default: 1, $about: 'The number of completions for each prompt.' }),
    stop: open(Type.Union([Type.String(), Type.Array(Type.String())]), 'a string or an array of strings'),
    logit_bias: open(Type.Record(Type.String(), Type.Number()), 'an object of numbers'),
    suffix: text({ $about: 'The text that follows the completion.' }),
    best_of: count(1, { $about: 'The number of completions to generate, of which the best are returned.' }),
    logprobs: count(0),
    echo: boolean({ $about: 'Whether the completion begins with the prompt.' }),
    user: text(),
  },
  { $name: 'CompletionRequest' },
);
export type CompletionRequest = Static<typeof CompletionRequest>;
