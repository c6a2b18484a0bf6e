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

/** Specification 2.2. */
export const MessagesRequest = Type.Object({
  model: text(),
  messages: Type.Array(Type.Object({ role: text(), content: Type.Unknown() })),
  max_tokens: Type.Integer({ minimum: 1 }),
  system: Type.Optional(Type.Union([text(), Type.Array(Type.Object({}))])),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: Type.Optional(Type.Number()),
  top_k: Type.Optional(count()),
  stream: Type.Optional(Type.Boolean({ default: false })),
  stop_sequences: Type.Optional(Type.Array(text())),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  tool_choice: Type.Optional(Type.Object({})),
  thinking: Type.Optional(Type.Object({})),
  metadata: Type.Optional(Type.Object({})),
});

export const MessagesReply = Type.Object({
  id: text(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  content: Type.Array(Type.Object({ type: text(), text: Type.Optional(text()) })),
  model: text(),
  stop_reason: text(),
  usage: Type.Object({
    input_tokens: count(),
    output_tokens: count(),
    cache_creation_input_tokens: count(),
    cache_read_input_tokens: count(),
  }),
});

/** Specification 2.3. */
export const ResponsesRequest = Type.Object({
  model: text(),
  input: Type.Optional(Type.Union([text(), Type.Array(Type.Object({}))])),
  instructions: Type.Optional(text()),
  max_output_tokens: Type.Optional(count()),
  temperature: Type.Optional(Type.Number()),
  top_p: Type.Optional(Type.Number()),
  stream: Type.Optional(Type.Boolean({ default: false })),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  tool_choice: Type.Optional(Type.Union([text(), Type.Object({})])),
  reasoning: Type.Optional(Type.Object({})),
  previous_response_id: Type.Optional(text()),
  truncation: Type.Optional(text()),
});

export const ResponsesReply = Type.Object({
  id: text(),
  object: Type.Literal('response'),
  created_at: count(),
  status: text(),
  model: text(),
  output: Type.Array(Type.Object({ type: text(), id: Type.Optional(text()) })),
  usage: Usage,
});

export const CompactRequest = Type.Object({
  model: text(),
  input: Type.Optional(Type.Union([text(), Type.Array(Type.Object({}))])),
  instructions: Type.Optional(text()),
  previous_response_id: Type.Optional(text()),
  prompt_cache_key: Type.Optional(text()),
  service_tier: Type.Optional(text()),
});

export const CompactReply = Type.Object({
  id: text(),
  object: Type.Literal('response.compaction'),
  created_at: count(),
  output: Type.Array(Type.Object({ type: text(), id: Type.Optional(text()) })),
  usage: Usage,
});

/** Specification 2.5. */
export const GenerateRequest = Type.Object({
  contents: Type.Optional(Type.Array(Type.Object({ role: Type.Optional(text()), parts: Type.Array(Type.Object({})) }))),
  generationConfig: Type.Optional(Type.Object({})),
  safetySettings: Type.Optional(Type.Array(Type.Object({}))),
  tools: Type.Optional(Type.Array(Type.Object({}))),
  systemInstruction: Type.Optional(Type.Object({})),
});

/** Specification 2.11. */
export const ImagesRequest = Type.Object({
  model: text(),
  prompt: Type.Optional(text()),
  size: Type.Optional(Type.String({ description: '<width>x<height>, an aspect ratio, or auto' })),
  n: Type.Optional(count()),
  response_format: Type.Optional(Type.Enum(['url', 'b64_json'])),
  stream: Type.Optional(Type.Boolean({ default: false })),
  input: Type.Optional(Type.Object({ messages: Type.Array(Type.Object({})) })),
  parameters: Type.Optional(Type.Object({})),
});

export const ImagesReply = Type.Object({
  created: count(),
  data: Type.Array(
    Type.Object({
      url: Type.Optional(text()),
      b64_json: Type.Optional(text()),
      revised_prompt: Type.Optional(text()),
    }),
  ),
});

export const EmbeddingsRequest = Type.Object({
  model: text(),
  input: Type.Unknown({ description: 'a text, texts, or token ids' }),
  encoding_format: Type.Optional(Type.Enum(['float', 'base64'], { default: 'float' })),
  dimensions: Type.Optional(count()),
  user: Type.Optional(text()),
});

export const EmbeddingsReply = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Type.Object({ object: Type.Literal('embedding'), index: count(), embedding: Type.Unknown() })),
  model: text(),
  usage: Type.Object({ prompt_tokens: count(), total_tokens: count() }),
});

export const SpeechRequest = Type.Object({
  model: text(),
  input: text(),
  voice: Type.Optional(Type.Unknown({ description: 'the name of a voice, or an object with its id' })),
  instructions: Type.Optional(text()),
  response_format: Type.Optional(Type.Enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm', 'ogg', 'mulaw'])),
  speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4 })),
  stream_format: Type.Optional(Type.Enum(['audio', 'sse'], { default: 'audio' })),
});
export const AudioData = Type.String({
  format: 'binary',
  description: 'the audio, of the media type that content-type says',
});

export const TranscriptionRequest = Type.Object({
  file: Type.String({ format: 'binary' }),
  model: text(),
  language: Type.Optional(text()),
  prompt: Type.Optional(text()),
  response_format: Type.Optional(Type.Enum(['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'])),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  stream: Type.Optional(Type.Boolean({ default: false })),
});
export const TranscriptionReply = Type.Object({ text: text() });

export const ModerationsRequest = Type.Object({
  model: Type.Optional(text()),
  input: Type.Unknown({ description: 'a text, texts, or objects with a text or a image' }),
});
export const ModerationsReply = Type.Object({
  id: text(),
  model: text(),
  results: Type.Array(Type.Object({ flagged: Type.Boolean() })),
});

const EmbedContent = {
  content: Type.Object({ parts: Type.Array(Type.Object({ text: text() })) }),
  taskType: Type.Optional(text()),
  title: Type.Optional(text()),
  outputDimensionality: Type.Optional(count()),
};
export const EmbedContentRequest = Type.Object(EmbedContent);
export const BatchEmbedRequest = Type.Object({
  requests: Type.Array(Type.Object({ model: Type.Optional(text()), ...EmbedContent })),
});
export const EmbedContentsReply = Type.Object({
  embedding: Type.Optional(Type.Object({ values: Type.Array(Type.Number()) })),
  embeddings: Type.Optional(Type.Array(Type.Object({ values: Type.Array(Type.Number()) }))),
});

export const RerankRequest = Type.Object({
  model: text(),
  query: text(),
  documents: Type.Array(Type.Unknown({ description: 'a text, or an object with a `text`' })),
  top_n: Type.Optional(count()),
  return_documents: Type.Optional(Type.Boolean({ default: false })),
  max_tokens_per_doc: Type.Optional(count()),
});

export const RerankReply = Type.Object({
  id: text(),
  results: Type.Array(
    Type.Object({
      index: count(),
      relevance_score: Type.Number(),
      document: Type.Optional(Type.Object({ text: text() })),
    }),
  ),
  meta: Type.Object({}),
});

export const GenerateQuery = Type.Object({
  alt: Type.Optional(Type.String({ description: '`sse` for server-sent events; a JSON array otherwise' })),
  key: Type.Optional(text()),
});

export const GenerateReply = Type.Object({
  candidates: Type.Array(
    Type.Object({
      content: Type.Object({ role: text(), parts: Type.Array(Type.Object({})) }),
      finishReason: Type.Optional(text()),
      safetyRatings: Type.Optional(Type.Array(Type.Object({}))),
    }),
  ),
  usageMetadata: Type.Object({
    promptTokenCount: count(),
    candidatesTokenCount: count(),
    totalTokenCount: count(),
  }),
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
