/**
 * The request schema of messages. It checks types and ranges of the top-level members; blocks, tools and sources are
 * checked one by one, by their type. Unknown members are allowed. Descriptions follow the words "must be".
 */
import { type Static, type TSchema, Type } from 'typebox';
import { byType, closed, type Notes, objectOf } from '../../shared/request-shape.ts';

const text = (description: string, notes: Notes = {}) => Type.String({ description, ...notes });
const flag = (notes: Notes = {}) => Type.Boolean({ description: 'true or false', ...notes });
/** Many clients write `null` for a default. */
const open = <S extends TSchema>(schema: S, notes: Notes = {}) =>
  Type.Optional(Type.Union([schema, Type.Null()], { ...notes }));

const block = (notes: Notes) =>
  Type.Object({ type: text('the type of the block') }, { description: 'a block with a `type`', ...notes });
const contentOf = (notes: Notes) =>
  Type.Union([Type.String(), Type.Array(block(notes))], { description: 'a string or an array of blocks' });
const Content = contentOf({ $name: 'MessagesBlock', $types: () => BLOCKS, $others: true });
/** Content without tool calls: the system prompt and tool results. */
const Parts = contentOf({
  $name: 'MessagesPart',
  $types: () => {
    const { tool_use: _, tool_result: __, ...parts } = BLOCKS;
    return parts;
  },
  $others: true,
});

const Cache = open(
  Type.Object(
    {
      type: Type.Literal('ephemeral', { description: '"ephemeral"' }),
      ttl: open(Type.Union([Type.Literal('5m'), Type.Literal('1h')], { description: '"5m" or "1h"' })),
    },
    { description: 'a cache mark such as {"type": "ephemeral"}' },
  ),
);

const ToolChoice = closed(
  {
    type: text('the type of the choice', { $about: '`auto`, `any`, `tool` or `none`.' }),
    name: open(text('the name of a tool')),
    disable_parallel_tool_use: open(flag(), { $means: 'parallel_tool_calls' }),
  },
  { description: 'an object with a `type`' },
);

const Thinking = closed(
  {
    type: text('"enabled", "adaptive" or "disabled"'),
    budget_tokens: open(Type.Integer({ minimum: 1024, description: 'an integer of at least 1024' })),
    display: open(text('"summarized" or "omitted"')),
  },
  { description: 'an object with a `type`' },
);

const JsonFormat = closed(
  { type: text('"json_schema"'), schema: Type.Object({}, { description: 'a JSON schema' }) },
  { description: 'an object with `type` and `schema`' },
);

export const MessagesRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'the name of a model' }),
    max_tokens: Type.Integer({ minimum: 1, description: 'an integer of at least 1' }),
    messages: Type.Array(
      closed(
        {
          role: Type.Union([Type.Literal('user'), Type.Literal('assistant'), Type.Literal('system')], {
            description: '"user", "assistant" or "system"',
          }),
          content: Content,
        },
        { description: 'an object with `role` and `content`' },
      ),
      { minItems: 1, description: 'an array of at least one message' },
    ),
    system: open(Parts, { $means: 'instructions', $about: 'A system prompt.' }),
    stream: open(flag()),
    temperature: open(Type.Number({ minimum: 0, maximum: 1, description: 'a number from 0 to 1' })),
    top_p: open(Type.Number({ minimum: 0, maximum: 1, description: 'a number from 0 to 1' })),
    top_k: open(Type.Integer({ minimum: 0, description: 'an integer of at least 0' })),
    stop_sequences: open(Type.Array(text('a string'), { description: 'an array of strings' }), { $means: 'stop' }),
    tools: open(
      Type.Array(
        objectOf(
          () =>
            byType(() => ({ custom: FunctionTool }), { $name: 'MessagesTool', $otherwise: 'custom', $others: true }),
          { description: 'an object with a `name`' },
        ),
        { description: 'an array of tools' },
      ),
    ),
    tool_choice: open(ToolChoice),
    thinking: open(Thinking, { $means: 'reasoning_effort' }),
    output_config: open(
      closed(
        {
          effort: open(text('"low", "medium", "high", "xhigh" or "max"')),
          format: open(JsonFormat, { $means: 'response_format' }),
        },
        { description: 'an object' },
      ),
    ),
    output_format: open(JsonFormat, { $about: 'The older place of `output_config.format`.' }),
    metadata: open(Type.Object({ user_id: open(text('a string'), { $means: 'user' }) }, { description: 'an object' })),
    service_tier: open(text('"auto" or "standard_only"')),
  },
  { description: 'a JSON object', $name: 'MessagesRequest' },
);
export type MessagesRequest = Static<typeof MessagesRequest>;

const CALLERS = () => ({ direct: Type.Object({}), code_execution_20250825: closed({}) });

const Source = Type.Object(
  { type: text('the type of the source') },
  { description: 'an object with a `type`', $types: () => SOURCES, $others: true },
);

/** The blocks that the gateway understands. Others are passed on unchanged. */
export const BLOCKS = {
  text: closed({
    text: text('a string'),
    citations: open(Type.Array(Type.Unknown(), { description: 'an array' })),
    cache_control: Cache,
  }),
  image: closed({ source: Source, cache_control: Cache }),
  document: closed({
    source: Source,
    title: open(text('a string')),
    context: open(text('a string')),
    citations: open(closed({ enabled: open(flag()) }, { description: 'an object' })),
    cache_control: Cache,
  }),
  search_result: closed({
    source: text('a string'),
    title: text('a string'),
    content: Type.Array(closed({ type: Type.Optional(Type.Unknown()), text: text('a string') }), {
      description: 'an array of text blocks',
    }),
    citations: open(closed({ enabled: open(flag()) }, { description: 'an object' })),
    cache_control: Cache,
  }),
  thinking: closed({ thinking: text('a string'), signature: open(text('a string')) }),
  redacted_thinking: closed({ data: text('a string') }),
  tool_use: closed({
    id: Type.String({ minLength: 1, description: 'a string' }),
    name: Type.String({ minLength: 1, description: 'the name of a tool' }),
    input: Type.Object({}, { description: 'an object' }),
    // Says whether the model or its code made the call.
    caller: Type.Optional(Type.Unknown({ $types: CALLERS })),
    cache_control: Cache,
  }),
  tool_result: closed({
    tool_use_id: Type.String({ minLength: 1, description: 'the id of a tool call' }),
    content: open(Parts),
    is_error: open(flag()),
    cache_control: Cache,
  }),
};

/** The sources of images and documents. */
export const SOURCES = {
  base64: closed({ media_type: text('a media type such as "image/png"'), data: text('base64') }),
  text: closed({ media_type: Type.Optional(Type.Unknown({ $about: '`text/plain`.' })), data: text('a string') }),
  content: closed({ content: contentOf({}) }),
  url: closed({ url: text('an address') }),
  file: closed({ file_id: text('the id of a file') }),
};

export const FunctionTool = closed({
  name: Type.String({ minLength: 1, description: 'the name of a tool' }),
  description: open(text('a string')),
  input_schema: Type.Object({}, { description: 'a JSON schema of an object' }),
  strict: open(flag()),
  cache_control: Cache,
});
