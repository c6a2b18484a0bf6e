/** LM Studio. */
import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';

export const lmStudio = openaiCompatibleProvider({
  name: 'lm-studio',
  baseUrl: 'http://localhost:1234/v1',
  baseUrlVariable: 'LM_STUDIO_BASE_URL',
  credentialVariable: 'LM_STUDIO_API_KEY',
  embeddings: { supportsEncodingFormat: false },
  needsCredential: false,
  completions: true,
  responses: true,
  quirks: { supportsMediaUrls: [], renames: { max_completion_tokens: 'max_tokens' } },
});
