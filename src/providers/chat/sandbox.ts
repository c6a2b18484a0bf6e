/** The built-in provider. The transport sends requests for this address to a server in the same process. */
import type { Call } from '../../canonical/call.ts';
import type { Provider } from '../provider.ts';
import { openaiVideo } from '../video/openai-video.ts';
import { authorizeByBearer, joinUrl, pathOf } from './openai-compatible.ts';

/** A host name that never resolves. */
export const SANDBOX_BASE_URL = 'http://sandbox.invalid/v1';

/** The paths of the formats other than OpenAI's. */
const PATHS: { readonly [dialect: string]: (model: string, call: Call) => string } = {
  'anthropic-messages': () => '/messages',
  gemini: (model, { stream }) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};
/** Images are parts in Google's format. In the chat formats they would be text. */
const NO_IMAGES = /^(?!sandbox-image)/;

export const sandbox: Provider = {
  name: 'sandbox',
  baseUrl: SANDBOX_BASE_URL,
  needsCredential: false,
  failsOnRequest: true,
  speaks: {
    chat: ['openai-chat', 'openai-completions', 'openai-responses', 'anthropic-messages', 'gemini'],
    image: ['openai-images'],
    embed: ['openai-embeddings'],
    rerank: ['rerank'],
    speech: ['openai-speech'],
    transcription: ['openai-transcriptions'],
    moderation: ['openai-moderations'],
  },
  only: {
    'openai-chat': NO_IMAGES,
    'openai-completions': NO_IMAGES,
    'openai-responses': NO_IMAGES,
    'anthropic-messages': NO_IMAGES,
    gemini: /^sandbox-/,
  },
  url: ({ baseUrl, model }, dialect, call) => joinUrl(baseUrl, PATHS[dialect]?.(model, call) ?? pathOf(dialect, call)),
  authorize: authorizeByBearer,
  // The sandbox finishes soon and polling it is cheap.
  video: { ...openaiVideo, firstLookMs: 500 },
  quirks: { supportsDeveloperRole: true },
};
