/** Jina AI: embeddings and rerank. */

import type { Provider } from '../provider.ts';
import { openaiCompatibleProvider } from './openai-compatible.ts';

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
