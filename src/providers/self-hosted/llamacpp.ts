/** llama.cpp's server. */
import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';

export const llamacpp = openaiCompatibleProvider({
  name: 'llamacpp',
  baseUrl: 'http://localhost:8080/v1',
  baseUrlVariable: 'LLAMACPP_BASE_URL',
  credentialVariable: 'LLAMACPP_API_KEY',
  embeddings: { supportsEncodingFormat: false },
  rerank: {},
  needsCredential: false,
  completions: true,
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});
