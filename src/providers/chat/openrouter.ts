/** OpenRouter. */
import { openrouterVideo } from '../video/openrouter-video.ts';
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const openrouter = openaiCompatibleVendor({
  name: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  credentialVariable: 'OPENROUTER_API_KEY',
  embeddings: {},
  rerank: {},
  completions: true,
  responses: true,
  video: openrouterVideo,
  quirks: { supportsDeveloperRole: true, reasoningField: 'reasoning_details' },
});
