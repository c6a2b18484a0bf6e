/** vLLM, also inside GPUStack. */
import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';

export const vllm = openaiCompatibleProvider({
  name: 'vllm',
  baseUrl: 'http://localhost:8000/v1',
  baseUrlVariable: 'VLLM_BASE_URL',
  credentialVariable: 'VLLM_API_KEY',
  embeddings: { supportsEncodingFormat: false },
  rerank: {},
  needsCredential: false,
  completions: true,
  quirks: { reasoningField: 'reasoning' },
});
