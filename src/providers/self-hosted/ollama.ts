/** Ollama, self-hosted or in its cloud. */
import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';

export const ollama = openaiCompatibleProvider({
  name: 'ollama',
  baseUrl: 'http://localhost:11434/v1',
  baseUrlVariable: 'OLLAMA_BASE_URL',
  credentialVariable: 'OLLAMA_API_KEY',
  embeddings: { supportsEncodingFormat: false, rejects: ['user'] },
  needsCredential: false,
  completions: true,
  quirks: {
    supportsMediaUrls: [],
    renames: { max_completion_tokens: 'max_tokens' },
    // Ollama ignores it. Dropping it here gives a warning.
    fixed: { n: 1 },
    rejects: ['logit_bias'],
    reasoningField: 'reasoning',
  },
});
