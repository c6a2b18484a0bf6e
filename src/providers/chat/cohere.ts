/** Cohere: embeddings and rerank in its own format, chat in its OpenAI-compatible API. */

import type { Provider } from '../provider.ts';
import { authorizeByBearer, joinUrl } from './openai-compatible.ts';

const PATHS: { readonly [dialect: string]: string } = {
  'openai-chat': '/compatibility/v1/chat/completions',
  'cohere-embed': '/v2/embed',
  rerank: '/v2/rerank',
};

export const cohere: Provider = {
  name: 'cohere',
  baseUrl: 'https://api.cohere.com',
  credentialVariable: 'COHERE_API_KEY',
  needsCredential: true,
  speaks: { chat: ['openai-chat'], embed: ['cohere-embed'], rerank: ['rerank'] },
  url: ({ baseUrl }, dialect) => joinUrl(baseUrl, PATHS[dialect] ?? ''),
  modelsUrl: (baseUrl) => joinUrl(baseUrl, '/v1/models?page_size=1000'),
  authorize: authorizeByBearer,
  quirks: {
    supportsDeveloperRole: true,
    renames: { max_completion_tokens: 'max_tokens' },
    rejects: ['logit_bias', 'user'],
  },
  otherQuirks: {
    embed: { maxInputsPerCall: 96 },
    rerank: { rejects: ['return_documents', 'rank_fields', 'max_chunks_per_doc'] },
  },
};
