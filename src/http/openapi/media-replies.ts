/** Response schemas for images, audio, embeddings, reranking and videos. */
import { type TProperties, Type } from 'typebox';
import { byType } from '../../dialects/shared/request-shape.ts';
import { named } from '../fields/named.ts';
import { count, orNull, some, text } from './reply-fields.ts';

const ImagesUsage = Type.Object({}, { $name: 'ImagesUsage', $about: 'Tokens of the text and of the images.' });

export const ImagesReply = named('ImagesResponse', {
  created: count(),
  data: Type.Array(
    Type.Object({
      url: some(Type.String({ $about: 'Valid for 24 hours.' })),
      b64_json: some(text()),
      revised_prompt: some(text()),
    }),
  ),
  usage: some(ImagesUsage),
  output_format: some(text()),
  size: some(text()),
  quality: some(text()),
  background: some(text()),
});

const image = (more: TProperties) =>
  Type.Object({
    b64_json: some(text()),
    url: some(text()),
    revised_prompt: some(text()),
    created_at: some(count()),
    output_format: some(text()),
    size: some(text()),
    quality: some(text()),
    background: some(text()),
    ...more,
  });
export const ImagesEvent = byType(
  () => ({
    'image_generation.partial_image': image({ partial_image_index: count() }),
    'image_generation.completed': image({ usage: some(ImagesUsage) }),
    'image_edit.partial_image': image({ partial_image_index: count() }),
    'image_edit.completed': image({ usage: some(ImagesUsage) }),
  }),
  { $name: 'ImageStreamEvent', $others: true },
);

export const Audio = Type.String({ format: 'binary', $about: 'The audio, in the format given by `content-type`.' });
export const SpeechEvent = byType(
  () => ({
    'speech.audio.delta': Type.Object({ audio: Type.String({ $about: 'Base64.' }) }),
    'speech.audio.done': Type.Object({ usage: some(Type.Object({})) }),
  }),
  { $name: 'SpeechStreamEvent', $others: true },
);

export const TranscriptionReply = named('Transcription', {
  text: text(),
  language: some(text()),
  duration: some(Type.Number()),
  segments: some(Type.Array(Type.Object({}))),
  words: some(Type.Array(Type.Object({}))),
  usage: some(Type.Object({})),
});
export const TranscriptEvent = byType(
  () => ({
    'transcript.text.delta': Type.Object({ delta: text() }),
    'transcript.text.done': Type.Object({ text: text(), usage: some(Type.Object({})) }),
  }),
  { $name: 'TranscriptStreamEvent', $others: true },
);

export const EmbeddingsReply = named('EmbeddingsResponse', {
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      object: Type.Literal('embedding'),
      index: count(),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String({ $about: 'Base64 of little-endian float32.' })]),
    }),
  ),
  model: text(),
  usage: Type.Object({ prompt_tokens: count(), total_tokens: count() }),
});

const Vector = Type.Object({ values: Type.Array(Type.Number()) });
export const EmbedContentReply = named('EmbedContentReply', { embedding: Vector });
export const BatchEmbedReply = named('BatchEmbedContentsReply', { embeddings: Type.Array(Vector) });

export const RerankReply = named('RerankResponse', {
  id: text(),
  results: Type.Array(
    Type.Object({
      index: count(),
      relevance_score: Type.Number(),
      document: some(Type.Object({ text: text() })),
    }),
  ),
  meta: Type.Object({}),
  model: some(text()),
  usage: some(Type.Object({})),
});

export const ModerationsReply = named('ModerationsResponse', {
  id: text(),
  model: text(),
  results: Type.Array(
    Type.Object({
      flagged: Type.Boolean(),
      categories: some(Type.Record(Type.String(), Type.Boolean())),
      category_applied_input_types: some(Type.Record(Type.String(), Type.Array(Type.String()))),
      category_scores: some(Type.Record(Type.String(), Type.Number())),
    }),
  ),
});

const STATUS = '`queued`, `in_progress`, `completed` or `failed`.';

export const VideoTask = named('VideoTask', {
  id: text(),
  object: Type.Literal('video'),
  model: text(),
  status: Type.String({ $about: STATUS }),
  progress: count(),
  created_at: count(),
  seconds: some(text()),
  completed_at: orNull(count()),
  expires_at: orNull(count()),
  size: some(text()),
  prompt: orNull(text()),
  remixed_from_video_id: some(text()),
  error: orNull(Type.Object({ message: text(), code: text() })),
  urls: some(Type.Array(text(), { $about: 'If several videos were requested: those that are available.' })),
  metadata: some(Type.Object({})),
});

export const VideoList = named('VideoList', {
  object: Type.Literal('list'),
  data: Type.Array(VideoTask),
  first_id: orNull(text()),
  last_id: orNull(text()),
  has_more: Type.Boolean(),
});

export const VideoResult = named('VideoResult', {
  task_id: text(),
  status: Type.String({ $about: STATUS }),
  url: some(text()),
  urls: some(Type.Array(text(), { $about: 'If several videos were requested.' })),
  format: some(text()),
  metadata: some(Type.Object({})),
  error: some(Type.Object({ code: Type.Integer(), message: text() })),
});

export const JimengReply = named('JimengResponse', {
  code: Type.Integer({ $about: '10000 for success.' }),
  message: text(),
  data: Type.Union([
    Type.Object({ task_id: some(text()), status: some(text()), video_url: some(text()) }),
    Type.Null(),
  ]),
});

export const VideoFile = Type.String({ format: 'binary', $about: 'The file, or the requested part (`Range`).' });
