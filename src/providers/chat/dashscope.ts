/** Alibaba Cloud Model Studio (Qwen, Wan): the OpenAI-compatible API, and Alibaba's own API for the rest. */
import type { Call } from '../../canonical/call.ts';
import { isObject } from '../../canonical/json.ts';
import type { Quirks } from '../../dialects/shared/quirks.ts';
import type { Provider, TaskForm } from '../provider.ts';
import { dashscopeVideo } from '../video/dashscope-video.ts';
import { joinUrl, openaiCompatibleProvider } from './openai-compatible.ts';

/** Alibaba's own API is beside the compatible one. */
const COMPATIBLE = /\/compatible-mode\/v1\/?$/;
const PATHS: { readonly [dialect: string]: (call: Call) => string } = {
  'dashscope-rerank': () => '/services/rerank/text-rerank/text-rerank',
  'dashscope-images': () => '/services/aigc/multimodal-generation/generation',
  'dashscope-image-tasks': (call) =>
    call.kind === 'image' && call.edit
      ? '/services/aigc/image2image/image-synthesis'
      : '/services/aigc/text2image/image-synthesis',
};
/** Models that generate images only as polled tasks: the older ones. */
const TASKS = /^(wanx|wan2\.[0-5]|flux|stable-diffusion)/;

/** Image sizes of each family. Source: https://www.alibabacloud.com/help/en/model-studio/image-generation. */
const IMAGES = {
  supportsMediaUrls: ['image'],
  maxImagesPerCall: 4,
  models: [
    {
      match: '^qwen-image(-(plus|max))?(-20.*)?$',
      quirks: {
        supportsImageInput: false,
        maxImagesPerCall: 1,
        supportsImageSizes: ['1328x1328', '1664x928', '1472x1104', '1104x1472', '928x1664'],
      },
    },
    {
      match: '^qwen-image-[2-9]\\.',
      quirks: { maxImagesPerCall: 6, supportsImageBounds: { grid: 16, least: 512 * 512, most: 2048 * 2048 } },
    },
    { match: '^qwen-image-edit(-20.*)?$', quirks: { maxImagesPerCall: 1, rejects: ['size'] } },
    {
      match: '^qwen-image-edit-(plus|max)',
      quirks: { maxImagesPerCall: 6, supportsImageBounds: { leastSide: 512, mostSide: 2048 } },
    },
    {
      match: '^z-image',
      quirks: {
        supportsImageInput: false,
        maxImagesPerCall: 1,
        supportsImageBounds: { least: 512 * 512, most: 2048 * 2048 },
      },
    },
    {
      match: '^wan2\\.6-t2i',
      quirks: {
        supportsImageInput: false,
        supportsImageBounds: { least: 1280 * 1280, most: 1440 * 1440, mostRatio: 4 },
      },
    },
    {
      match: '^wan2\\.6-image',
      quirks: { supportsImageBounds: { least: 768 * 768, most: 1280 * 1280, mostRatio: 4 } },
    },
    {
      match: '^wan2\\.7-image',
      quirks: {
        supportsImageSizeNames: ['1K', '2K'],
        supportsImageBounds: { least: 768 * 768, most: 2048 * 2048, mostRatio: 8 },
      },
    },
    {
      match: '^wan2\\.7-image-pro',
      quirks: {
        supportsImageSizeNames: ['1K', '2K', '4K'],
        supportsImageBounds: { least: 768 * 768, most: 4096 * 4096, mostRatio: 8 },
      },
    },
    {
      match: '^wan2\\.5-t2i',
      quirks: { supportsImageInput: false, supportsImageBounds: { least: 768 * 768, most: 1440 * 1440, mostRatio: 4 } },
    },
    { match: '^wan2\\.5-i2i', quirks: { supportsImageBounds: { least: 768 * 768, most: 1280 * 1280, mostRatio: 4 } } },
    {
      match: '^(wanx2\\.|wan2\\.[0-4]).*t2i',
      quirks: { supportsImageInput: false, supportsImageBounds: { leastSide: 512, mostSide: 1440 } },
    },
  ],
} satisfies Quirks;

const compatible = openaiCompatibleProvider({
  name: 'dashscope',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  credentialVariable: 'DASHSCOPE_API_KEY',
  embeddings: { supportsEncodingFormat: false, rejects: ['user'], maxInputsPerCall: 10 },
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});

const UNDER_WAY: readonly unknown[] = ['PENDING', 'RUNNING'];
const task: TaskForm = {
  headers: { 'x-dashscope-async': 'enable' },
  next({ baseUrl }, { output }) {
    if (!isObject(output) || typeof output.task_id !== 'string' || !UNDER_WAY.includes(output.task_status))
      return undefined;
    return joinUrl(baseUrl.replace(COMPATIBLE, '/api/v1'), `/tasks/${encodeURIComponent(output.task_id)}`);
  },
};

export const dashscope: Provider = {
  ...compatible,
  video: dashscopeVideo,
  speaks: {
    ...compatible.speaks,
    rerank: ['dashscope-rerank'],
    image: ['dashscope-images', 'dashscope-image-tasks'],
  },
  only: { 'dashscope-image-tasks': TASKS, 'dashscope-images': new RegExp(`^(?!${TASKS.source.slice(1)})`) },
  tasks: { 'dashscope-image-tasks': task },
  url(target, dialect, call) {
    const path = PATHS[dialect]?.(call);
    if (path === undefined) return compatible.url(target, dialect, call);
    return joinUrl(target.baseUrl.replace(COMPATIBLE, '/api/v1'), path);
  },
  otherQuirks: { ...compatible.otherQuirks, image: IMAGES },
};
