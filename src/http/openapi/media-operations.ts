/** OpenAPI operations for images, audio, embeddings, reranking and videos. */
import { Type } from 'typebox';
import type { JsonObject } from '../../canonical/json.ts';
import { SpeechRequest } from '../../dialects/audio/openai-speech/request-schema.ts';
import { transcriptionForm } from '../../dialects/audio/openai-transcriptions/request-schema.ts';
import { EmbeddingsRequest } from '../../dialects/embeddings/request-schema.ts';
import { editsBody, editsForm, generationsBody } from '../../dialects/images/openai-images/request-schema.ts';
import { ModerationsRequest } from '../../dialects/moderation/request-schema.ts';
import { RerankRequest } from '../../dialects/rerank/request-schema.ts';
import {
  JimengRequest,
  jimengQueryBody,
  KlingRequest,
  klingImageBody,
  RemixRequest,
  VideoRequest,
} from '../../dialects/video/request-schemas.ts';
import {
  Audio,
  EmbeddingsReply,
  ImagesEvent,
  ImagesReply,
  JimengReply,
  ModerationsReply,
  RerankReply,
  SpeechEvent,
  TranscriptEvent,
  TranscriptionReply,
  VideoFile,
  VideoList,
  VideoResult,
  VideoTask,
} from './media-replies.ts';
import type { Operation, Operations } from './operation.ts';

const PROMPT = 'A lighthouse in the fog.';
/** A PNG of one pixel. */
const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const embeddings = (id: string, path?: { model: string }): Operation => ({
  id,
  tag: 'Embeddings',
  body: EmbeddingsRequest,
  reply: EmbeddingsReply,
  request: { model: 'sandbox-embed', input: PROMPT, dimensions: 4 },
  ...(path && { path }),
});

const rerank = (id: string): Operation => ({
  id,
  tag: 'Embeddings',
  body: RerankRequest,
  reply: RerankReply,
  request: { model: 'sandbox-rerank', query: 'Where is the light?', documents: ['A desert.', PROMPT], top_n: 1 },
});

const transcript = (id: string): Operation => ({
  id,
  tag: 'Audio',
  form: transcriptionForm(),
  reply: TranscriptionReply,
  // With `response_format` `text`, `srt` or `vtt`.
  alsoAs: { 'text/plain': 'WEBVTT\n\n00:00:00.000 --> 00:00:00.400\nA glass of water.\n' },
  events: TranscriptEvent,
  request: { file: '(the bytes of speech.wav)', model: 'sandbox-transcription' },
});

const VIDEO: JsonObject = { model: 'sandbox-video', prompt: PROMPT, seconds: 1 };
const TASK = { id: 'video_1Zk3v9' };
/** Of requests that create videos. */
const headers = ['idempotency-key', 'x-modelport-strict', 'x-modelport-tags'] as const;

const kling = (name: string, prefix: string): [string, Operation][] =>
  ['text2video', 'image2video'].flatMap((kind): [string, Operation][] => {
    const id = `${name}${kind === 'text2video' ? 'TextToVideo' : 'ImageToVideo'}`;
    const fromImage = kind === 'image2video';
    const order = { model_name: 'sandbox-video', prompt: PROMPT, duration: 1 };
    return [
      [
        `POST ${prefix}/v1/videos/${kind}`,
        {
          id: `create${id}`,
          tag: 'Videos',
          body: fromImage ? klingImageBody() : KlingRequest,
          reply: VideoResult,
          headers,
          request: fromImage ? { ...order, image: DOT } : order,
        },
      ],
      [`GET ${prefix}/v1/videos/${kind}/{id}`, { id: `get${id}`, tag: 'Videos', path: TASK, reply: VideoResult }],
    ];
  });

const jimeng = (id: string): Operation => ({
  id,
  tag: 'Videos',
  query: { Action: 'CVSync2AsyncSubmitTask', Version: '2022-08-31' },
  body: Type.Union([JimengRequest, jimengQueryBody()]),
  reply: JimengReply,
  headers,
  request: { req_key: 'sandbox-video', prompt: PROMPT, frames: 25 },
});

const ofVideo = (id: string, more: Partial<Operation>): Operation => ({ id, tag: 'Videos', path: TASK, ...more });

export const MEDIA_OPERATIONS: Operations = {
  'POST /v1/images/generations': {
    id: 'createImage',
    tag: 'Images',
    body: generationsBody(),
    reply: ImagesReply,
    events: ImagesEvent,
    request: { model: 'sandbox-image', prompt: PROMPT, size: '64x64', response_format: 'b64_json' },
  },
  'POST /v1/images/edits': {
    id: 'editImage',
    tag: 'Images',
    body: editsBody(),
    form: editsForm(),
    reply: ImagesReply,
    events: ImagesEvent,
    request: { model: 'sandbox-image', prompt: PROMPT, image: DOT, size: '64x64', response_format: 'b64_json' },
  },
  'POST /v1/embeddings': embeddings('createEmbedding'),
  'POST /v1/engines/{model}/embeddings': embeddings('createEngineEmbedding', { model: 'sandbox-embed' }),
  'POST /v1/audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    body: SpeechRequest,
    reply: Audio,
    replyType: 'audio/*',
    example: '(bytes of an audio file)',
    events: SpeechEvent,
    request: { model: 'sandbox-speech', input: PROMPT, voice: 'alloy', response_format: 'wav' },
  },
  'POST /v1/audio/transcriptions': transcript('createTranscription'),
  'POST /v1/audio/translations': transcript('createTranslation'),
  'POST /v1/moderations': {
    id: 'createModeration',
    tag: 'Embeddings',
    body: ModerationsRequest,
    reply: ModerationsReply,
    request: { model: 'sandbox-moderation', input: PROMPT },
  },
  'POST /v1/rerank': rerank('createRerank'),
  'POST /v2/rerank': rerank('createRerankV2'),
  'POST /v1/videos': {
    id: 'createVideo',
    tag: 'Videos',
    body: VideoRequest,
    form: VideoRequest,
    reply: VideoTask,
    headers,
    request: VIDEO,
  },
  'GET /v1/videos': { id: 'listVideos', tag: 'Videos', reply: VideoList },
  'GET /v1/videos/{id}': ofVideo('getVideo', { reply: VideoTask }),
  'DELETE /v1/videos/{id}': ofVideo('deleteVideo', {}),
  'GET /v1/videos/{id}/content': ofVideo('getVideoContent', {
    reply: VideoFile,
    headers: ['range'],
    replyType: 'video/mp4',
    example: '(bytes of an MP4 file)',
  }),
  'POST /v1/videos/{id}/remix': ofVideo('remixVideo', {
    body: RemixRequest,
    reply: VideoTask,
    headers,
    request: { prompt: 'The same by night.' },
  }),
  'POST /v1/video/generations': {
    id: 'createVideoGeneration',
    tag: 'Videos',
    body: VideoRequest,
    form: VideoRequest,
    reply: VideoResult,
    headers,
    request: VIDEO,
  },
  'GET /v1/video/generations/{id}': ofVideo('getVideoGeneration', { reply: VideoResult }),
  ...Object.fromEntries([...kling('Kling', '/kling'), ...kling('VendorA', '/vendor-a')]),
  'POST /jimeng': jimeng('callJimeng'),
  'POST /vendor-b': jimeng('callVendorB'),
  'GET /files/{file}': {
    id: 'getFile',
    tag: 'Videos',
    path: { file: 'file_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P' },
    reply: VideoFile,
    headers: ['range'],
    replyType: '*/*',
    example: '(bytes of an image or a video)',
  },
};
