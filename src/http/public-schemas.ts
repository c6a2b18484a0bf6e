/** The public requests and replies as the description shows them; the dialects are what checks and writes them. */
import { Type } from 'typebox';

const text = () => Type.String();
const count = () => Type.Integer();
const textOrList = () => Type.Union([Type.String(), Type.Array(Type.String())]);

const Usage = Type.Object({
  prompt_tokens: count(),
  completion_tokens: count(),
  total_tokens: count(),
  prompt_tokens_details: Type.Optional(
    Type.Object({ cached_tokens: count(), text_tokens: count(), audio_tokens: count(), image_tokens: count() }),
  ),
  completion_tokens_details: Type.Optional(
    Type.Object({ text_tokens: count(), audio_tokens: count(), reasoning_tokens: count() }),
  ),
});

export const ChatRequest = Type.Object({
  model: text(),
  messages: Type.Array(Type.Object({ role: text(), content: Type.Optional(Type.Unknown()) })),
  temperature: Type.Optional(Type.Number({ default: 1, minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ default: 1, minimum: 0, maximum: 1 })),
  n: Type.Optional(Type.Integer({ default: 1, minimum: 1 })),
  stream: Type.Optional(Type.Boolean({ default: false })),
  stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
  stop: Type.Optional(textOrList()),
  max_tokens: Type.Optional(count()),
  max_completion_tokens: Type.Optional(count()),
  presence_penalty: Type.Optional(Type.Number({ default: 0, minimum: -2, maximum: 2 })),
  frequency_penalty: Type.Optional(Type.Number({ default: 0, minimum: -2, maximum: 2 })),
  logit_bias: Type.Optional(Type.Object({})),
  user: Type.Optional(text()),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  tool_choice: Type.Optional(Type.Union([text(), Type.Object({})])),
  response_format: Type.Optional(Type.Object({})),
  seed: Type.Optional(count()),
  reasoning_effort: Type.Optional(text()),
  modalities: Type.Optional(Type.Array(text())),
  audio: Type.Optional(Type.Object({})),
});

export const ChatReply = Type.Object({
  id: text(),
  object: Type.Literal('chat.completion'),
  created: count(),
  model: text(),
  choices: Type.Array(Type.Object({ index: count(), message: Type.Object({}), finish_reason: text() })),
  usage: Usage,
});

export const CompletionRequest = Type.Object({
  model: text(),
  prompt: Type.Unknown({ description: 'a text, texts, or token ids' }),
  max_tokens: Type.Optional(count()),
  temperature: Type.Optional(Type.Number()),
  top_p: Type.Optional(Type.Number()),
  n: Type.Optional(count()),
  stream: Type.Optional(Type.Boolean({ default: false })),
  stop: Type.Optional(textOrList()),
  suffix: Type.Optional(text()),
  echo: Type.Optional(Type.Boolean()),
});

export const CompletionReply = Type.Object({
  id: text(),
  object: Type.Literal('text_completion'),
  created: count(),
  model: text(),
  choices: Type.Array(Type.Object({ text: text(), index: count(), finish_reason: text() })),
  usage: Usage,
});

/** Specification 2.13. */
export const ErrorReply = Type.Object({
  error: Type.Object({
    message: text(),
    type: text(),
    param: Type.Union([text(), Type.Null()]),
    code: Type.Union([text(), Type.Null()]),
  }),
});
