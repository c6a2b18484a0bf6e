/** Zhipu (GLM): one service at two addresses, `zai` (international) and `zhipu` (China). */

import type { Quirks } from '../../dialects/shared/quirks.ts';
import { OUTPUT_SETTINGS } from './image-settings.ts';
import { openaiCompatibleProvider } from './openai-compatible.ts';

const QUIRKS = {
  renames: { max_completion_tokens: 'max_tokens' },
  supportsStructuredOutput: 'json',
} satisfies Quirks;

const EMBEDDINGS = { supportsEncodingFormat: false, rejects: ['user'], maxInputsPerCall: 64 } satisfies Quirks;

const SPEECH = { supportsSpeechEvents: 'never', rejects: ['instructions'] } satisfies Quirks;

const TRANSCRIPTION = {
  transcripts: 'text',
  rejects: ['language', 'temperature', 'stream', 'include[]', 'chunking_strategy', 'timestamp_granularities[]'],
} satisfies Quirks;

/** One image per call, returned as a URL. Source: https://docs.z.ai/api-reference/image/generate-image. */
const IMAGES = {
  maxImagesPerCall: 1,
  supportsImageInput: false,
  renames: { user: 'user_id' },
  supportsImageBounds: { grid: 16, leastSide: 512, mostSide: 2048, most: 2 ** 21 },
  rejects: ['n', 'style', 'response_format', ...OUTPUT_SETTINGS],
  models: [
    {
      match: '^glm-image',
      quirks: { supportsImageBounds: { grid: 32, leastSide: 1024, mostSide: 2048, most: 2 ** 22 } },
    },
  ],
} satisfies Quirks;

export const zai = openaiCompatibleProvider({
  name: 'zai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  credentialVariable: 'ZAI_API_KEY',
  images: IMAGES,
  embeddings: EMBEDDINGS,
  speech: SPEECH,
  transcription: TRANSCRIPTION,
  quirks: QUIRKS,
});

export const zhipu = openaiCompatibleProvider({
  name: 'zhipu',
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  credentialVariable: 'ZHIPUAI_API_KEY',
  images: IMAGES,
  embeddings: EMBEDDINGS,
  speech: SPEECH,
  transcription: TRANSCRIPTION,
  quirks: QUIRKS,
});
