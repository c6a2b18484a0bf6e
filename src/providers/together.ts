/** Together AI. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const together = openaiCompatibleVendor({
  name: 'together',
  baseUrl: 'https://api.together.ai/v1',
  credentialVariable: 'TOGETHER_API_KEY',
  embeddings: { plainVectors: true },
  rerank: {},
  completions: true,
  quirks: { renames: { max_completion_tokens: 'max_tokens' }, reasoningField: 'reasoning' },
});
