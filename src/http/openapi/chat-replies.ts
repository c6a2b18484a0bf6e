/** Response schemas for chat, non-streaming and streaming. */
import { type TProperties, Type } from 'typebox';
import { byType } from '../../dialects/shared/request-shape.ts';
import { named } from '../fields/named.ts';
import { count, orNull, some, text } from './reply-fields.ts';

const Usage = named('Usage', {
  prompt_tokens: count(),
  completion_tokens: count(),
  total_tokens: count(),
  prompt_tokens_details: some(
    Type.Object({
      cached_tokens: some(count()),
      text_tokens: some(count()),
      audio_tokens: some(count()),
      image_tokens: some(count()),
    }),
  ),
  completion_tokens_details: some(
    Type.Object({ text_tokens: some(count()), audio_tokens: some(count()), reasoning_tokens: some(count()) }),
  ),
});

const Logprobs = Type.Unknown({ $about: 'Log probabilities of the tokens, if requested.' });
const ToolCall = named('ChatToolCall', {
  id: text(),
  type: Type.Enum(['function', 'custom']),
  function: some(Type.Object({ name: text(), arguments: text() })),
  custom: some(Type.Object({ name: text(), input: text() })),
});
const FINISH = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const;
const Finish = Type.Union([Type.String({ $about: `${FINISH.map((word) => `\`${word}\``).join(', ')}.` }), Type.Null()]);

export const ChatReply = named('ChatCompletion', {
  id: text(),
  object: Type.Literal('chat.completion'),
  created: count(),
  model: text(),
  choices: Type.Array(
    Type.Object({
      index: count(),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: orNull(text()),
        refusal: orNull(text()),
        reasoning_content: orNull(text()),
        tool_calls: some(Type.Array(ToolCall)),
        annotations: some(Type.Array(Type.Object({}))),
        audio: orNull(Type.Object({ id: text(), data: text(), transcript: text(), expires_at: Type.Integer() })),
        images: some(Type.Array(Type.Object({}))),
      }),
      logprobs: some(Logprobs),
      finish_reason: Finish,
    }),
  ),
  usage: Usage,
  service_tier: orNull(text()),
});

export const ChatChunk = named('ChatCompletionChunk', {
  id: text(),
  object: Type.Literal('chat.completion.chunk'),
  created: count(),
  model: text(),
  choices: Type.Array(
    Type.Object({
      index: count(),
      delta: Type.Object({
        role: some(text()),
        content: orNull(text()),
        refusal: orNull(text()),
        reasoning_content: orNull(text()),
        tool_calls: some(
          Type.Array(
            Type.Object({
              index: count(),
              id: some(text()),
              type: some(text()),
              function: some(Type.Object({ name: some(text()), arguments: some(text()) })),
              custom: some(Type.Object({ name: some(text()), input: some(text()) })),
            }),
          ),
        ),
      }),
      logprobs: some(Logprobs),
      finish_reason: some(Finish),
    }),
  ),
  usage: orNull(Usage),
});

const completionOf = ($name: string) =>
  named($name, {
    id: text(),
    object: Type.Literal('text_completion'),
    created: count(),
    model: text(),
    choices: Type.Array(
      Type.Object({ text: text(), index: count(), logprobs: some(Logprobs), finish_reason: some(Finish) }),
    ),
    usage: orNull(Usage),
  });
export const CompletionReply = completionOf('Completion');
export const CompletionChunk = completionOf('CompletionChunk');

const MessagesUsage = named('MessagesUsage', {
  input_tokens: some(count()),
  output_tokens: count(),
  cache_creation_input_tokens: orNull(count()),
  cache_read_input_tokens: orNull(count()),
  cache_creation: orNull(Type.Object({})),
});
const Block = byType(
  () => ({
    text: Type.Object({ text: text(), citations: some(Type.Array(Type.Object({}))) }),
    thinking: Type.Object({ thinking: text(), signature: some(text()) }),
    redacted_thinking: Type.Object({ data: text() }),
    tool_use: Type.Object({ id: text(), name: text(), input: Type.Object({}) }),
  }),
  { $name: 'MessageBlock', $others: true },
);

export const MessagesReply = named('Message', {
  id: text(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: text(),
  content: Type.Array(Block),
  stop_reason: orNull(Type.String({ $about: '`end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `refusal`.' })),
  stop_sequence: orNull(text()),
  stop_details: orNull(Type.Object({})),
  usage: MessagesUsage,
});

export const MessagesEvent = byType(
  () => ({
    message_start: Type.Object({ message: MessagesReply }),
    content_block_start: Type.Object({ index: count(), content_block: Block }),
    content_block_delta: Type.Object({
      index: count(),
      delta: byType(
        () => ({
          text_delta: Type.Object({ text: text() }),
          thinking_delta: Type.Object({ thinking: text() }),
          signature_delta: Type.Object({ signature: text() }),
          input_json_delta: Type.Object({ partial_json: text() }),
          citations_delta: Type.Object({ citation: Type.Object({}) }),
        }),
        { $others: true },
      ),
    }),
    content_block_stop: Type.Object({ index: count() }),
    message_delta: Type.Object({
      delta: Type.Object({
        stop_reason: orNull(text()),
        stop_sequence: orNull(text()),
        stop_details: orNull(Type.Object({})),
      }),
      usage: MessagesUsage,
    }),
    message_stop: Type.Object({}),
    ping: Type.Object({}),
    error: Type.Object({ error: Type.Object({ type: text(), message: text() }) }),
  }),
  { $name: 'MessageStreamEvent' },
);

const OutputPart = byType(
  () => ({
    output_text: Type.Object({
      text: text(),
      annotations: some(Type.Array(Type.Object({}))),
      logprobs: some(Type.Array(Type.Object({}))),
    }),
    refusal: Type.Object({ refusal: text() }),
    summary_text: Type.Object({ text: text() }),
  }),
  { $name: 'ResponsesOutputPart', $others: true },
);
const OutputItem = byType(
  () => ({
    message: Type.Object({
      id: text(),
      role: Type.Literal('assistant'),
      status: some(text()),
      content: Type.Array(OutputPart),
    }),
    function_call: Type.Object({
      id: some(text()),
      call_id: text(),
      name: text(),
      arguments: text(),
      status: some(text()),
    }),
    custom_tool_call: Type.Object({ id: some(text()), call_id: text(), name: text(), input: text() }),
    reasoning: Type.Object({
      id: text(),
      summary: Type.Array(OutputPart),
      encrypted_content: orNull(text()),
    }),
    compaction: Type.Object({ id: text(), encrypted_content: text() }),
  }),
  { $name: 'ResponsesOutputItem', $others: true },
);

const ResponsesUsage = named('ResponsesUsage', {
  input_tokens: count(),
  output_tokens: count(),
  total_tokens: count(),
  input_tokens_details: some(
    Type.Object({ cached_tokens: some(count()), cache_write_tokens: some(count()), text_tokens: some(count()) }),
  ),
  output_tokens_details: some(Type.Object({ reasoning_tokens: some(count()) })),
  prompt_tokens: some(count()),
  completion_tokens: some(count()),
  prompt_tokens_details: Usage.properties.prompt_tokens_details,
  completion_tokens_details: Usage.properties.completion_tokens_details,
});

export const ResponsesReply = named('Response', {
  id: text(),
  object: Type.Literal('response'),
  created_at: Type.Number(),
  completed_at: orNull(Type.Number()),
  status: Type.String({ $about: '`completed`, `incomplete`, `failed` or `in_progress`.' }),
  model: text(),
  output: Type.Array(OutputItem),
  error: orNull(Type.Object({ code: text(), message: text() })),
  incomplete_details: orNull(Type.Object({ reason: some(text()) })),
  instructions: some(Type.Unknown()),
  max_output_tokens: orNull(Type.Integer()),
  metadata: orNull(Type.Object({})),
  parallel_tool_calls: some(Type.Boolean()),
  previous_response_id: orNull(text()),
  reasoning: orNull(Type.Object({})),
  store: some(Type.Boolean()),
  temperature: orNull(Type.Number()),
  text: some(Type.Object({})),
  tool_choice: some(Type.Unknown()),
  tools: some(Type.Array(Type.Object({}))),
  top_p: orNull(Type.Number()),
  background: orNull(Type.Boolean()),
  frequency_penalty: orNull(Type.Number()),
  presence_penalty: orNull(Type.Number()),
  max_tool_calls: orNull(Type.Integer()),
  prompt_cache_key: orNull(text()),
  safety_identifier: orNull(text()),
  service_tier: orNull(text()),
  top_logprobs: orNull(Type.Integer()),
  user: orNull(text()),
  truncation: orNull(text()),
  usage: orNull(ResponsesUsage),
});

const at = <P extends TProperties>(properties: P) => Type.Object({ sequence_number: count(), ...properties });
const ofItem = <P extends TProperties>(properties: P) => at({ item_id: text(), output_index: count(), ...properties });
const ofPart = <P extends TProperties>(properties: P) => ofItem({ content_index: count(), ...properties });
const response = () => at({ response: ResponsesReply });

export const ResponsesEvent = byType(
  () => ({
    'response.created': response(),
    'response.in_progress': response(),
    'response.completed': response(),
    'response.incomplete': response(),
    'response.failed': response(),
    'response.output_item.added': at({ output_index: count(), item: OutputItem }),
    'response.output_item.done': at({ output_index: count(), item: OutputItem }),
    'response.content_part.added': ofPart({ part: OutputPart }),
    'response.content_part.done': ofPart({ part: OutputPart }),
    'response.output_text.delta': ofPart({ delta: text(), logprobs: some(Type.Array(Type.Object({}))) }),
    'response.output_text.done': ofPart({ text: text(), logprobs: some(Type.Array(Type.Object({}))) }),
    'response.refusal.delta': ofPart({ delta: text() }),
    'response.refusal.done': ofPart({ refusal: text() }),
    'response.function_call_arguments.delta': ofItem({ delta: text() }),
    'response.function_call_arguments.done': ofItem({ arguments: text() }),
    'response.reasoning_summary_text.delta': ofItem({ summary_index: count(), delta: text() }),
    'response.reasoning_summary_text.done': ofItem({ summary_index: count(), text: text() }),
    error: Type.Object({ message: text(), code: orNull(text()), param: orNull(text()) }),
  }),
  { $name: 'ResponseStreamEvent', $others: true },
);

export const CompactReply = named('CompactedResponse', {
  id: text(),
  object: Type.Literal('response.compaction'),
  created_at: Type.Number(),
  output: Type.Array(Type.Unknown({ $inside: () => OutputItem })),
  usage: ResponsesUsage,
});

export const GenerateReply = named('GenerateContentReply', {
  candidates: some(
    Type.Array(
      Type.Object({
        index: some(count()),
        content: some(
          Type.Object({ role: some(text()), parts: some(Type.Array(Type.Object({ text: some(text()) }))) }),
        ),
        finishReason: some(Type.String({ $about: '`STOP`, `MAX_TOKENS`, `SAFETY` …' })),
        safetyRatings: some(Type.Array(Type.Object({}))),
        groundingMetadata: some(Type.Object({})),
      }),
    ),
  ),
  promptFeedback: some(Type.Object({})),
  modelVersion: some(text()),
  responseId: some(text()),
  createTime: some(text()),
  usageMetadata: some(
    Type.Object({
      promptTokenCount: some(count()),
      candidatesTokenCount: some(count()),
      thoughtsTokenCount: some(count()),
      cachedContentTokenCount: some(count()),
      totalTokenCount: some(count()),
      promptTokensDetails: some(Type.Array(Type.Object({}))),
      candidatesTokensDetails: some(Type.Array(Type.Object({}))),
    }),
  ),
});
