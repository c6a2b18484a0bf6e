/**
 * The request schema of chat completions. It checks types and ranges of the top-level members; the readers check
 * messages and tools. Unknown members are allowed. Descriptions follow the words "must be".
 */
import { type TProperties, Type } from 'typebox';
import {
  anything,
  boolean,
  byType,
  closed,
  integerFrom,
  number,
  object,
  objectOf,
  open,
  text,
} from '../../shared/request-shape.ts';
import { EFFORTS } from '../request/reasoning-effort.ts';

const cacheMark = () => anything({ $about: 'A cache mark, for providers that support one.' });
const wordOrObject = (words: string, $about: string) =>
  open(Type.Union([Type.String(), Type.Object({})]), `${words}, or an object`, { $about });

/** The content parts that the gateway understands. Others belong to a provider. */
const PARTS = () => ({
  text: closed({ text: Type.String(), cache_control: cacheMark() }),
  refusal: closed({ refusal: Type.String() }),
  image_url: closed({
    image_url: closed({
      url: Type.String({ $about: 'An address, or a data URL.' }),
      detail: Type.Optional(Type.String({ $about: '`low`, `high` or `auto`.' })),
    }),
    cache_control: cacheMark(),
  }),
  input_audio: closed({
    input_audio: closed({
      data: Type.String({ $about: 'The audio in base64.' }),
      format: Type.String({ $about: '`wav` or `mp3`.' }),
    }),
    cache_control: cacheMark(),
  }),
  file: closed({
    file: closed({
      file_data: Type.Optional(Type.String({ $about: 'A data URL.' })),
      file_id: Type.Optional(Type.String()),
      filename: Type.Optional(Type.String()),
    }),
    cache_control: cacheMark(),
  }),
  video_url: Type.Object({ video_url: Type.Object({ url: Type.String() }) }),
});

const toolCall = () =>
  closed({
    id: Type.String(),
    index: Type.Optional(Type.Integer()),
    type: Type.Optional(Type.Enum(['function', 'custom'])),
    function: Type.Optional(closed({ name: Type.String(), arguments: Type.String({ $about: 'JSON, as a string.' }) })),
    custom: Type.Optional(closed({ name: Type.String(), input: Type.String() })),
    extra_content: anything(),
    cache_control: cacheMark(),
  });

const message = () =>
  closed(
    {
      role: Type.Enum(['developer', 'system', 'user', 'assistant', 'tool', 'function']),
      content: Type.Optional(
        Type.Union([
          Type.String(),
          Type.Array(byType(PARTS, { $name: 'ChatContentPart', $others: true })),
          Type.Null(),
        ]),
      ),
      name: text(),
      tool_calls: open(Type.Array(toolCall()), 'an array of tool calls'),
      tool_call_id: Type.Optional(
        Type.String({ $about: 'In a message with the role `tool`: the id of its tool call.' }),
      ),
      function_call: object({ $about: 'The older form of `tool_calls`.' }),
      refusal: text(),
      audio: open(closed({ id: Type.String() }), 'an object with an `id`'),
      annotations: anything(),
      reasoning_content: text({ $about: 'The reasoning of an earlier answer, unchanged.' }),
      reasoning: anything(),
      reasoning_details: anything(),
      thinking_blocks: anything(),
      extra_content: anything(),
      cache_control: cacheMark(),
    },
    { $name: 'ChatMessage' },
  );

const TOOLS = () => ({
  function: closed({
    function: closed({
      name: Type.String(),
      description: text(),
      parameters: object({ $about: 'The JSON schema of the arguments.' }),
      strict: boolean(),
    }),
    cache_control: cacheMark(),
  }),
  custom: closed({
    custom: closed({
      name: Type.String(),
      description: text(),
      format: object({ $about: 'Free text, or a grammar.' }),
    }),
    cache_control: cacheMark(),
  }),
});

const FORMATS = () => ({
  text: closed({}),
  json_object: closed({}),
  json_schema: closed({
    json_schema: closed({
      name: Type.String(),
      description: text(),
      schema: object({ $about: 'The JSON schema of the answer.' }),
      strict: boolean(),
    }),
  }),
});

const MEMBERS = {
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  messages: Type.Array(objectOf(message), {
    minItems: 1,
    description: 'a non-empty array of messages, each an object',
  }),
  temperature: number(0, 2, { default: 1 }),
  top_p: number(0, 1, { default: 1 }),
  n: integerFrom(1, { default: 1, $about: 'The number of answers.' }),
  stream: boolean({ default: false, $about: 'Whether the response is a stream of server-sent events.' }),
  stream_options: open(
    Type.Object({ include_usage: boolean() }),
    'an object; its `include_usage` is `true` or `false`',
    { $about: 'With `include_usage: true` the last event of a stream contains the usage.' },
  ),
  stop: open(Type.Union([Type.String(), Type.Array(Type.String())]), 'a string or an array of strings'),
  max_tokens: integerFrom(1, {
    $about: "The maximum of generated tokens. Without it, the model's maximum is reserved.",
  }),
  max_completion_tokens: integerFrom(1, { $about: 'The newer name of `max_tokens`.' }),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  logit_bias: open(Type.Record(Type.String(), Type.Number()), 'an object of token ids and numbers'),
  logprobs: boolean(),
  top_logprobs: open(Type.Integer({ minimum: 0, maximum: 20 }), 'an integer from 0 to 20'),
  top_k: open(Type.Integer(), 'an integer'),
  seed: open(Type.Integer(), 'an integer'),
  user: text(),
  safety_identifier: text({ $aside: true }),
  tools: open(
    Type.Array(objectOf(() => byType(TOOLS, { $name: 'ChatTool', $otherwise: 'function', $others: true }))),
    'an array of tools, each an object',
  ),
  tool_choice: wordOrObject(
    '`auto`, `none`, `required`',
    '`auto`, `none`, `required`, or an object that names a tool.',
  ),
  functions: open(Type.Array(Type.Object({ name: Type.String() })), 'an array of functions, each with a `name`', {
    $aside: true,
    $about: 'The older form of `tools`.',
  }),
  function_call: open(Type.Union([Type.String(), Type.Object({})]), '`auto`, `none`, or an object', {
    $aside: true,
    $about: 'The older form of `tool_choice`.',
  }),
  parallel_tool_calls: boolean(),
  response_format: open(
    Type.Object({ type: Type.String() }, { $types: FORMATS, $others: true }),
    'an object with a `type`',
  ),
  // Not an enum: some providers have more values (Groq's `default`).
  reasoning_effort: text({
    $about: `${EFFORTS.map((effort) => `\`${effort}\``).join(', ')}, or a value of the provider.`,
  }),
  reasoning: object({ $aside: true, $about: "Reasoning, in OpenRouter's form." }),
  thinking: object({ $aside: true, $about: 'Reasoning, in the form of DeepSeek and z.ai.' }),
  enable_thinking: boolean({ $aside: true, $about: "Reasoning, in Qwen's form." }),
  modalities: open(Type.Array(Type.String()), 'an array of strings', {
    $about: 'Some of `text`, `audio` and `image`.',
  }),
  audio: open(Type.Object({ format: Type.Optional(Type.String()) }), 'an object with `voice` and `format`', {
    $about: 'The voice and format of an audio answer.',
  }),
  metadata: object(),
  prompt_cache_key: text(),
  service_tier: text(),
  verbosity: text({ $about: '`low`, `medium` or `high`.' }),
  web_search_options: object(),
  contents: open(Type.Array(Type.Unknown()), 'an array', { $about: 'Turns in the Google format, with images.' }),
  extra_body: object({ $about: 'Settings of images (`google.image_config`), and members of the provider.' }),
  google: anything({ $about: 'The same as in `extra_body`.' }),
  image_config: anything({ $about: 'Aspect ratio and size of an image. Also `imageConfig`.' }),
  imageConfig: anything({ $spelling: true }),
} satisfies TProperties;

export const ChatRequest = Type.Object(MEMBERS, { $name: 'ChatCompletionRequest' });
