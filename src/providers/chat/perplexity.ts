/** Perplexity. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const perplexity = openaiCompatibleProvider({
  name: 'perplexity',
  baseUrl: 'https://api.perplexity.ai',
  credentialVariable: 'PERPLEXITY_API_KEY',
  embeddings: { supportsEncodingFormat: false, returnsInt8Vectors: true, rejects: ['user'], maxInputsPerCall: 512 },
  quirks: {
    renames: { max_completion_tokens: 'max_tokens' },
    streamUsage: 'always',
    supportsStructuredOutput: 'json-schema',
    reasoningField: 'none',
  },
});
