/** For tests: the requests of each video provider and the meaning of its answers, from its public documentation. */
import type { Json } from '../../src/canonical/json.ts';
import type { TaskImage, VideoCall } from '../../src/canonical/task.ts';
import { dashscope } from '../../src/providers/chat/dashscope.ts';
import { google } from '../../src/providers/chat/google.ts';
import { openai } from '../../src/providers/chat/openai.ts';
import { openrouter } from '../../src/providers/chat/openrouter.ts';
import { volcengine } from '../../src/providers/chat/volcengine.ts';
import { xai } from '../../src/providers/chat/xai.ts';
import { azure } from '../../src/providers/clouds/azure.ts';
import { vertex } from '../../src/providers/clouds/vertex.ts';
import type { Target } from '../../src/providers/outgoing.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { kling } from '../../src/providers/video/kling.ts';
import { runway } from '../../src/providers/video/runway.ts';
import { vidu } from '../../src/providers/video/vidu.ts';

export const image: TaskImage = {
  role: 'first',
  source: { type: 'inline', base64: 'iVBORw0KGgo=', mimeType: 'image/png' },
};
export const last: TaskImage = { role: 'last', source: { type: 'url', url: 'https://images.example/last.png' } };
export const DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';
export const plain: VideoCall = {
  model: 'public',
  prompt: 'A cat',
  seconds: 5,
  images: [],
  n: 1,
  metadata: { own: 1 },
};
/** The same with a size and a seed. */
export const wide: VideoCall = { ...plain, width: 1280, height: 720, seed: 7 };

export const targetOf = ({ baseUrl = '' }: Provider, more: Partial<Target> = {}): Target => ({
  model: 'm-1',
  baseUrl,
  credential: 'key',
  settings: {},
  ...more,
});

/** The requests and answers of each provider; `handle`: its task id after a start. */
export interface VideoFormat {
  provider: Provider;
  /** Members of its target in addition to `targetOf`. */
  target?: Partial<Target>;
  begun: unknown;
  handle: Json;
  text: { url: string; body: object };
  /** `sent`: the images that are sent; by default a first and a last frame. */
  images: { url: string; body: object; sent?: TaskImage[] };
  poll: string;
  /** The body of a poll, if it has one. */
  polled?: object;
  working: unknown;
  unheard: unknown;
  failed: unknown;
  done: unknown;
  found: object[];
  billed?: object;
}

const VEO_PLACE = '/projects/p/locations/us-central1/publishers/google/models/m-1';
const VEO_IMAGES = {
  body: { instances: [{ prompt: 'A cat', image: { bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' } }] },
  // It accepts none by URL.
  sent: [image],
};
const veoText = { aspectRatio: '16:9', durationSeconds: 5, resolution: '720p', seed: 7 };
const sora = {
  begun: { id: 'video_9', object: 'video', status: 'queued', progress: 0 },
  handle: 'video_9',
  working: { id: 'video_9', status: 'in_progress', progress: 33 },
  unheard: { id: 'video_9', status: 'polishing' },
  failed: { id: 'video_9', status: 'failed', error: { code: 'moderation_blocked', message: 'No.' } },
  done: { id: 'video_9', status: 'completed', progress: 100, seconds: '8' },
  billed: { seconds: 8 },
};
const soraText = { own: 1, model: 'm-1', prompt: 'A cat', seconds: '5', size: '1280x720' };
const soraImages = {
  body: { model: 'm-1', input_reference: { image_url: 'https://images.example/last.png' } },
  // As data it is sent in a form.
  sent: [{ ...last, role: 'first' as const }],
};

export const VIDEO_FORMATS: VideoFormat[] = [
  {
    provider: openai,
    ...sora,
    text: { url: 'https://api.openai.com/v1/videos', body: soraText },
    images: { url: 'https://api.openai.com/v1/videos', ...soraImages },
    poll: 'https://api.openai.com/v1/videos/video_9',
    found: [{ url: 'https://api.openai.com/v1/videos/video_9/content', signed: true }],
  },
  {
    provider: azure,
    target: { baseUrl: 'https://r.openai.azure.com', settings: { apiVersion: '2024-10-21' } },
    ...sora,
    text: { url: 'https://r.openai.azure.com/openai/v1/videos', body: soraText },
    images: { url: 'https://r.openai.azure.com/openai/v1/videos', ...soraImages },
    poll: 'https://r.openai.azure.com/openai/v1/videos/video_9',
    found: [{ url: 'https://r.openai.azure.com/openai/v1/videos/video_9/content', signed: true }],
  },
  {
    provider: vertex,
    target: {
      baseUrl: 'https://us-central1-aiplatform.googleapis.com',
      settings: { project: 'p', location: 'us-central1' },
    },
    begun: { name: 'projects/p/locations/us-central1/publishers/google/models/m-1/operations/op' },
    handle: 'projects/p/locations/us-central1/publishers/google/models/m-1/operations/op',
    text: {
      url: `https://us-central1-aiplatform.googleapis.com/v1${VEO_PLACE}:predictLongRunning`,
      body: { instances: [{ prompt: 'A cat' }], parameters: { own: 1, ...veoText } },
    },
    images: {
      url: `https://us-central1-aiplatform.googleapis.com/v1${VEO_PLACE}:predictLongRunning`,
      ...VEO_IMAGES,
    },
    poll: `https://us-central1-aiplatform.googleapis.com/v1${VEO_PLACE}:fetchPredictOperation`,
    polled: { operationName: 'projects/p/locations/us-central1/publishers/google/models/m-1/operations/op' },
    working: { name: 'op' },
    unheard: { name: 'op', done: 'soon' },
    failed: { done: true, error: { code: 3, message: 'No.' } },
    done: {
      done: true,
      response: {
        videos: [
          { gcsUri: 'gs://bucket/sample_0.mp4', mimeType: 'video/mp4' },
          { bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' },
        ],
      },
    },
    found: [
      { url: 'https://storage.googleapis.com/bucket/sample_0.mp4', signed: true, mimeType: 'video/mp4' },
      { base64: 'AAAA', mimeType: 'video/mp4' },
    ],
  },
  {
    provider: kling,
    begun: { code: 0, data: { task_id: '42', task_status: 'submitted' } },
    handle: 'text2video/42',
    text: {
      url: 'https://api-singapore.klingai.com/v1/videos/text2video',
      body: {
        own: 1,
        model_name: 'm-1',
        prompt: 'A cat',
        duration: '5',
        aspect_ratio: '16:9',
        external_task_id: 'video_1',
      },
    },
    images: {
      url: 'https://api-singapore.klingai.com/v1/videos/image2video',
      body: { image: 'iVBORw0KGgo=', image_tail: 'https://images.example/last.png' },
    },
    poll: 'https://api-singapore.klingai.com/v1/videos/text2video/42',
    working: { code: 0, data: { task_id: '42', task_status: 'processing' } },
    unheard: { code: 0, data: { task_id: '42', task_status: 'polishing' } },
    failed: { code: 0, data: { task_id: '42', task_status: 'failed', task_status_msg: 'No.' } },
    done: { code: 0, data: { task_status: 'succeed', task_result: { videos: [{ url: 'https://k.example/v.mp4' }] } } },
    found: [{ url: 'https://k.example/v.mp4' }],
  },
  {
    provider: google,
    begun: { name: 'models/m-1/operations/op' },
    handle: 'models/m-1/operations/op',
    text: {
      url: 'https://generativelanguage.googleapis.com/v1beta/models/m-1:predictLongRunning',
      body: {
        instances: [{ prompt: 'A cat' }],
        parameters: { own: 1, ...veoText },
      },
    },
    images: {
      url: 'https://generativelanguage.googleapis.com/v1beta/models/m-1:predictLongRunning',
      ...VEO_IMAGES,
    },
    poll: 'https://generativelanguage.googleapis.com/v1beta/models/m-1/operations/op',
    working: { name: 'models/m-1/operations/op' },
    unheard: { name: 'models/m-1/operations/op', done: 'soon' },
    failed: { done: true, error: { code: 3, message: 'No.' } },
    done: {
      done: true,
      response: {
        generateVideoResponse: {
          generatedSamples: [{ video: { uri: 'https://generativelanguage.googleapis.com/v1beta/files/f:download' } }],
        },
      },
    },
    found: [{ url: 'https://generativelanguage.googleapis.com/v1beta/files/f:download', signed: true }],
  },
  {
    provider: dashscope,
    target: { model: 'wan2.7-i2v' },
    begun: { output: { task_id: 't-1', task_status: 'PENDING' } },
    handle: 't-1',
    text: {
      url: 'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis',
      body: {
        model: 'wan2.7-i2v',
        input: { prompt: 'A cat' },
        parameters: { own: 1, resolution: '720P', ratio: '16:9', duration: 5, seed: 7 },
      },
    },
    images: {
      url: 'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/video-generation/video-synthesis',
      body: {
        input: {
          prompt: 'A cat',
          media: [
            { type: 'first_frame', url: DATA_URL },
            { type: 'last_frame', url: 'https://images.example/last.png' },
          ],
        },
      },
    },
    poll: 'https://dashscope-intl.aliyuncs.com/api/v1/tasks/t-1',
    working: { output: { task_status: 'RUNNING' } },
    unheard: { output: { task_status: 'POLISHING' } },
    failed: { output: { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'No.' } },
    done: {
      output: { task_status: 'SUCCEEDED', video_url: 'https://d.example/v.mp4' },
      usage: { video_duration: 5, video_count: 1 },
    },
    found: [{ url: 'https://d.example/v.mp4' }],
    billed: { seconds: 5 },
  },
  {
    provider: volcengine,
    begun: { id: 'cgt-1' },
    handle: 'cgt-1',
    text: {
      url: 'https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks',
      body: {
        own: 1,
        model: 'm-1',
        content: [{ type: 'text', text: 'A cat' }],
        ratio: '16:9',
        resolution: '720p',
        duration: 5,
        seed: 7,
      },
    },
    images: {
      url: 'https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks',
      body: {
        content: [
          { type: 'text', text: 'A cat' },
          { type: 'image_url', image_url: { url: DATA_URL }, role: 'first_frame' },
          { type: 'image_url', image_url: { url: 'https://images.example/last.png' }, role: 'last_frame' },
        ],
      },
    },
    poll: 'https://ark.cn-beijing.volces.com/api/v3/contents/generations/tasks/cgt-1',
    working: { id: 'cgt-1', status: 'running' },
    unheard: { id: 'cgt-1', status: 'polishing' },
    failed: { id: 'cgt-1', status: 'failed', error: { code: 'SensitiveContent', message: 'No.' } },
    done: {
      id: 'cgt-1',
      status: 'succeeded',
      content: { video_url: 'https://a.example/v.mp4' },
      usage: { completion_tokens: 108_900 },
    },
    found: [{ url: 'https://a.example/v.mp4' }],
    billed: { outputTokens: 108_900 },
  },
  {
    provider: runway,
    begun: { id: 'r-1' },
    handle: 'r-1',
    text: {
      url: 'https://api.dev.runwayml.com/v1/text_to_video',
      body: { own: 1, model: 'm-1', promptText: 'A cat', ratio: '1280:720', duration: 5, seed: 7 },
    },
    images: {
      url: 'https://api.dev.runwayml.com/v1/image_to_video',
      body: {
        promptImage: [
          { uri: DATA_URL, position: 'first' },
          { uri: 'https://images.example/last.png', position: 'last' },
        ],
      },
    },
    poll: 'https://api.dev.runwayml.com/v1/tasks/r-1',
    working: { id: 'r-1', status: 'RUNNING', progress: 0.5 },
    unheard: { id: 'r-1', status: 'POLISHING' },
    failed: { id: 'r-1', status: 'FAILED', failure: 'No.', failureCode: 'SAFETY' },
    done: { id: 'r-1', status: 'SUCCEEDED', output: ['https://r.example/v.mp4'] },
    found: [{ url: 'https://r.example/v.mp4' }],
  },
  {
    provider: vidu,
    begun: { task_id: 'v-1', state: 'created' },
    handle: 'v-1',
    text: {
      url: 'https://api.vidu.com/ent/v2/text2video',
      body: {
        own: 1,
        model: 'm-1',
        prompt: 'A cat',
        duration: 5,
        seed: 7,
        resolution: '720p',
        aspect_ratio: '16:9',
      },
    },
    images: {
      url: 'https://api.vidu.com/ent/v2/start-end2video',
      body: { images: [DATA_URL, 'https://images.example/last.png'] },
    },
    poll: 'https://api.vidu.com/ent/v2/tasks/v-1/creations',
    working: { state: 'processing' },
    unheard: { state: 'polishing' },
    failed: { state: 'failed', err_code: 'Audit' },
    done: { state: 'success', creations: [{ url: 'https://v.example/v.mp4' }] },
    found: [{ url: 'https://v.example/v.mp4' }],
  },
  {
    provider: xai,
    begun: { request_id: 'x-1' },
    handle: 'x-1',
    text: {
      url: 'https://api.x.ai/v1/videos/generations',
      body: { own: 1, model: 'm-1', prompt: 'A cat', duration: 5, aspect_ratio: '16:9', resolution: '720p' },
    },
    images: { url: 'https://api.x.ai/v1/videos/generations', body: { image: { url: DATA_URL } } },
    poll: 'https://api.x.ai/v1/videos/x-1',
    working: { status: 'in_progress', progress: 50 },
    unheard: { status: 'polishing' },
    failed: { status: 'failed', error: { code: 'moderated', message: 'No.' } },
    done: { status: 'done', video: { url: 'https://x.example/v.mp4', duration: 5, respect_moderation: true } },
    found: [{ url: 'https://x.example/v.mp4' }],
    billed: { seconds: 5 },
  },
  {
    provider: openrouter,
    begun: { id: 'job-1', polling_url: '/api/v1/videos/job-1', status: 'pending' },
    handle: 'job-1',
    text: {
      url: 'https://openrouter.ai/api/v1/videos',
      body: { own: 1, model: 'm-1', prompt: 'A cat', duration: 5, size: '1280x720', seed: 7 },
    },
    images: {
      url: 'https://openrouter.ai/api/v1/videos',
      body: {
        frame_images: [
          { type: 'image_url', image_url: { url: DATA_URL }, frame_type: 'first_frame' },
          { type: 'image_url', image_url: { url: 'https://images.example/last.png' }, frame_type: 'last_frame' },
        ],
      },
    },
    poll: 'https://openrouter.ai/api/v1/videos/job-1',
    working: { id: 'job-1', status: 'in_progress' },
    unheard: { id: 'job-1', status: 'polishing' },
    failed: { id: 'job-1', status: 'failed', error: 'No.' },
    done: {
      id: 'job-1',
      status: 'completed',
      unsigned_urls: ['https://openrouter.ai/api/v1/videos/job-1/content?index=0'],
    },
    found: [{ url: 'https://openrouter.ai/api/v1/videos/job-1/content?index=0', signed: true }],
  },
];
