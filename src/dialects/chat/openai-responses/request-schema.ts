/**
 * The request schema of Responses. It checks types and ranges of the top-level members; the readers check items and
 * tools. Unknown members are allowed. Descriptions follow the words "must be".
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

const MARK = () => ({
  prompt_cache_breakpoint: anything({ $about: 'A cache mark, for providers that support one.' }),
});
const TEXT = () => ({ text: Type.String(), annotations: anything(), ...MARK() });

const PARTS = () => ({
  input_text: closed(TEXT()),
  // Log probabilities of earlier output have no meaning in a request.
  output_text: closed({ ...TEXT(), logprobs: anything() }),
  text: closed(TEXT()),
  refusal: closed({ refusal: Type.String() }),
  input_image: closed({
    image_url: text({ $about: 'An address, or a data URL.' }),
    file_id: text(),
    detail: text({ $about: '`low`, `high` or `auto`.' }),
    ...MARK(),
  }),
  input_file: closed({
    file_data: text({ $about: 'A data URL.' }),
    file_url: text(),
    file_id: text(),
    filename: text(),
    ...MARK(),
  }),
  input_audio: closed({
    input_audio: closed({
      data: Type.String({ $about: 'The audio in base64.' }),
      format: Type.String({ $about: '`wav` or `mp3`.' }),
    }),
    ...MARK(),
  }),
});

const content = () =>
  Type.Union([Type.String(), Type.Array(byType(PARTS, { $name: 'ResponsesContentPart', $others: true }))]);

/** Ids and states of earlier items have no meaning to other providers. */
const OF_ITEM = () => ({ id: text(), status: text() });
const CALL = () => ({ call_id: Type.String(), name: Type.String(), namespace: text() });

const ITEMS = () => ({
  message: closed({
    ...OF_ITEM(),
    role: Type.Enum(['user', 'assistant', 'system', 'developer']),
    phase: text(),
    content: content(),
  }),
  function_call: closed({
    ...OF_ITEM(),
    ...CALL(),
    arguments: Type.String({ $about: 'JSON, as a string.' }),
  }),
  custom_tool_call: closed({ ...OF_ITEM(), ...CALL(), input: Type.String() }),
  function_call_output: closed({ ...OF_ITEM(), call_id: Type.String(), output: content() }),
  custom_tool_call_output: closed({ ...OF_ITEM(), call_id: Type.String(), output: content() }),
  compaction: closed({
    ...OF_ITEM(),
    encrypted_content: text({ $about: 'The encrypted content of a compaction item from `/v1/responses/compact`.' }),
  }),
  reasoning: closed({
    ...OF_ITEM(),
    summary: Type.Optional(Type.Array(Type.Object({}))),
    content: anything(),
    encrypted_content: text(),
  }),
});

const TOOLS = () => ({
  function: closed({
    name: Type.String(),
    description: text(),
    parameters: object({ $about: 'The JSON schema of the arguments.' }),
    strict: boolean({ default: true }),
  }),
  custom: closed({ name: Type.String(), description: text(), format: object({ $about: 'Free text, or a grammar.' }) }),
});

const MEMBERS = {
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  input: open(
    Type.Union([
      Type.String(),
      Type.Array(objectOf(() => byType(ITEMS, { $name: 'ResponsesItem', $otherwise: 'message', $others: true }))),
    ]),
    'a string or an array of items, each an object',
    { $means: 'messages' },
  ),
  instructions: text({ $about: 'A system prompt.' }),
  max_output_tokens: integerFrom(1, {
    $means: 'max_tokens',
    $about: "The maximum of generated tokens. Without it, the model's maximum is reserved.",
  }),
  max_tool_calls: integerFrom(1, { $aside: true }),
  temperature: number(0, 2, { default: 1 }),
  top_p: number(0, 1, { default: 1 }),
  top_logprobs: open(Type.Integer({ minimum: 0, maximum: 20 }), 'an integer from 0 to 20'),
  stream: boolean({ default: false, $about: 'Whether the response is a stream of server-sent events.' }),
  stream_options: object({ $aside: true }),
  store: boolean({
    default: true,
    $aside: true,
    $about: 'Whether the response is stored, so that it can be read and continued.',
  }),
  background: boolean({ $aside: true, $about: '`true` is refused: background responses are not supported.' }),
  tools: open(
    Type.Array(Type.Object({ type: Type.String() }, { $types: TOOLS, $others: true, $name: 'ResponsesTool' })),
    'an array of tools, each an object with a `type`; a function has its `name` beside it',
  ),
  tool_choice: open(Type.Union([Type.String(), Type.Object({})]), '`auto`, `none`, `required`, or an object'),
  parallel_tool_calls: boolean(),
  reasoning: open(
    Type.Object({
      effort: text({
        $means: 'reasoning_effort',
        $about: `${EFFORTS.map((effort) => `\`${effort}\``).join(', ')}, or a value of the provider.`,
      }),
      summary: text({ $about: '`auto`, `concise` or `detailed`.' }),
    }),
    'an object; its `effort` and its `summary` are strings',
  ),
  text: open(
    Type.Object({
      format: open(Type.Object({ type: Type.String() }), 'an object', {
        $means: 'response_format',
        $about: '`{"type": "json_schema", "name", "schema"}`, `{"type": "json_object"}` or `{"type": "text"}`.',
      }),
      verbosity: text({ $means: 'verbosity', $about: '`low`, `medium` or `high`.' }),
    }),
    'an object; its `format` is an object with a `type`, its `verbosity` a string',
  ),
  previous_response_id: text({ $aside: true, $about: 'The stored response that this one continues.' }),
  conversation: open(Type.Union([Type.String(), Type.Object({})]), 'a string or an object', { $aside: true }),
  truncation: open(Type.Union([Type.Literal('auto'), Type.Literal('disabled')]), 'one of `auto`, `disabled`', {
    $aside: true,
  }),
  include: open(Type.Array(Type.String()), 'an array of strings', { $aside: true }),
  metadata: object(),
  user: text(),
  safety_identifier: text({ $aside: true }),
  prompt_cache_key: text(),
  service_tier: text(),
} satisfies TProperties;

export const ResponsesRequest = Type.Object(MEMBERS, { $name: 'ResponsesRequest' });
