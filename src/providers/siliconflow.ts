/** SiliconFlow. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const siliconflow = openaiCompatibleVendor({
  name: 'siliconflow',
  baseUrl: 'https://api.siliconflow.com/v1',
  credentialVariable: 'SILICONFLOW_API_KEY',
  embeddings: { plainVectors: true, rejects: ['user'], mostInputs: 32 },
  rerank: {},
  images: {
    renames: { size: 'image_size', n: 'batch_size' },
    editPictures: 'bare',
    rejects: ['style', 'background', 'stream', 'partial_images', 'user'],
  },
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});
