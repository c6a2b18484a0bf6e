/** The vendor that ships: the transport hands what goes to this address to an upstream in the same process. */
import type { Call } from '../canonical/call.ts';
import { authorizeByBearer, joinUrl, pathOf } from './openai-compatible.ts';
import { openaiVideo } from './openai-video.ts';
import type { Provider } from './provider.ts';

/** An address that no network has. */
export const SANDBOX_BASE_URL = 'http://sandbox.invalid/v1';

/** Where the formats that are not OpenAI's are served. */
const PATHS: { readonly [dialect: string]: (model: string, call: Call) => string } = {
  'anthropic-messages': () => '/messages',
  gemini: (model, { stream }) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};
/** Pictures stand in Google's format as such: in the others they would be text. */
const NO_PICTURES = /^(?!sandbox-image)/;

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
    'openai-chat': NO_PICTURES,
    'openai-completions': NO_PICTURES,
    'openai-responses': NO_PICTURES,
    'anthropic-messages': NO_PICTURES,
    gemini: /^sandbox-/,
  },
  url: ({ baseUrl, model }, dialect, call) => joinUrl(baseUrl, PATHS[dialect]?.(model, call) ?? pathOf(dialect, call)),
  authorize: authorizeByBearer,
  // It is soon done, and a look at it costs next to nothing.
  video: { ...openaiVideo, firstLookMs: 500 },
  quirks: { developerRole: 'developer' },
};
