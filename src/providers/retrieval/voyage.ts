/** Voyage AI: embeddings and rerank. */

import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';

const compatible = openaiCompatibleProvider({
  name: 'voyage',
  baseUrl: 'https://api.voyageai.com/v1',
  credentialVariable: 'VOYAGE_API_KEY',
  embeddings: {
    supportsEncodingFormat: false,
    renames: { dimensions: 'output_dimension' },
    rejects: ['user'],
    maxInputsPerCall: 1000,
  },
});

export const voyage: Provider = {
  ...compatible,
  speaks: { embed: ['openai-embeddings'], rerank: ['voyage-rerank'] },
};
