/** Zhipu (GLM): the same service under two addresses, `zai` for the world and `zhipu` for China. */
import type { Quirks } from '../dialects/dialect.ts';
import { openaiCompatibleVendor } from './openai-compatible.ts';

const QUIRKS = {
  renames: { max_completion_tokens: 'max_tokens' },
  structuredOutput: 'json',
} satisfies Quirks;

const EMBEDDINGS = { plainVectors: true, rejects: ['user'], mostInputs: 64 } satisfies Quirks;

const PICTURES = {
  mostPictures: 1,
  rejects: [
    'n',
    'style',
    'background',
    'output_format',
    'output_compression',
    'stream',
    'partial_images',
    'response_format',
  ],
} satisfies Quirks;

export const zai = openaiCompatibleVendor({
  name: 'zai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  credentialVariable: 'ZAI_API_KEY',
  images: PICTURES,
  embeddings: EMBEDDINGS,
  quirks: QUIRKS,
});

export const zhipu = openaiCompatibleVendor({
  name: 'zhipu',
  baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
  credentialVariable: 'ZHIPUAI_API_KEY',
  images: PICTURES,
  embeddings: EMBEDDINGS,
  quirks: QUIRKS,
});
