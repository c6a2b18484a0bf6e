/** Perplexity. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const perplexity = openaiCompatibleVendor({
  name: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  credentialVariable: 'PERPLEXITY_API_KEY',
  embeddings: { plainVectors: true, wholeNumbers: true, rejects: ['user'], mostInputs: 512 },
  quirks: {
    renames: { max_completion_tokens: 'max_tokens' },
    streamUsage: 'always',
    structuredOutput: 'json-schema',
    reasoningField: 'none',
  },
});
