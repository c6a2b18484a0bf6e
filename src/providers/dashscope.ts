/** Alibaba Cloud Model Studio (Qwen, Wan): its compatible mode, and what that mode does not have. */
import type { Call } from '../canonical/call.ts';
import { isObject } from '../canonical/json.ts';
import { dashscopeVideo } from './dashscope-video.ts';
import { joinUrl, openaiCompatibleVendor } from './openai-compatible.ts';
import type { Provider, TaskForm } from './provider.ts';

/** What the compatible mode does not have stands beside it. */
const COMPATIBLE = /\/compatible-mode\/v1\/?$/;
const PATHS: { readonly [dialect: string]: (call: Call) => string } = {
  'dashscope-rerank': () => '/services/rerank/text-rerank/text-rerank',
  'dashscope-images': () => '/services/aigc/multimodal-generation/generation',
  'dashscope-image-tasks': (call) =>
    call.kind === 'image' && call.edit
      ? '/services/aigc/image2image/image-synthesis'
      : '/services/aigc/text2image/image-synthesis',
};
/** Models that draw as tasks alone: the older ones. */
const TASKS = /^(wanx|wan2\.[0-5]|flux|stable-diffusion)/;

const compatible = openaiCompatibleVendor({
  name: 'dashscope',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  credentialVariable: 'DASHSCOPE_API_KEY',
  embeddings: { plainVectors: true, rejects: ['user'], mostInputs: 10 },
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
  otherQuirks: { ...compatible.otherQuirks, image: { takesUrls: ['image'] } },
};
