/** The provider that ships: the transport hands what goes to this address to an upstream in the same process. */
import type { Call } from '../../canonical/call.ts';
import type { Provider } from '../provider.ts';
import { openaiVideo } from '../video/openai-video.ts';
import { authorizeByBearer, joinUrl, pathOf } from './openai-compatible.ts';

/** An address that no network has. */
export const SANDBOX_BASE_URL = 'http://sandbox.invalid/v1';

/** Where the formats that are not OpenAI's are served. */
const PATHS: { readonly [dialect: string]: (model: string, call: Call) => string } = {
  'anthropic-messages': () => '/messages',
  gemini: (model, { stream }) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};
/** Images stand in Google's format as such: in the others they would be text. */
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
  // It is soon done, and a look at it costs next to nothing.
  video: { ...openaiVideo, firstLookMs: 500 },
  quirks: { supportsDeveloperRole: true },
};
