/** Jina AI: embeddings and rerank. */

import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';

const compatible = openaiCompatibleProvider({
  name: 'jina',
  baseUrl: 'https://api.jina.ai/v1',
  credentialVariable: 'JINA_API_KEY',
  embeddings: { supportsEncodingFormat: false, rejects: ['user'], maxInputsPerCall: 512 },
  rerank: {},
});

export const jina: Provider = {
  ...compatible,
  speaks: { embed: ['openai-embeddings'], rerank: ['rerank'] },
};
