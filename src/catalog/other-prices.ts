/** List prices of models that embed, rank, speak, listen and judge. */
import type { MediaPrices } from './listed-price.ts';

/** OpenAI has a page for each model, which bears no date. */
const OPENAI_PAGES = 'https://developers.openai.com/api/docs/models/ (the page of each model)';
const LITELLM = 'https://github.com/BerriAI/litellm/blob/00035b6/model_prices_and_context_window.json';
const READ = '2026-11-21';

export const OPENAI_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: OPENAI_PAGES,
    agrees: 'https://openrouter.ai/openai/text-embedding-3-large',
    asOf: READ,
    models: [
      ['text-embedding-3-small', { input: '0.02' }],
      ['text-embedding-3-large', { input: '0.13' }],
    ],
  },
  {
    kind: 'embed',
    source: 'https://vercel.com/ai-gateway/models/text-embedding-ada-002.md',
    agrees: 'https://openrouter.ai/openai/text-embedding-ada-002',
    asOf: READ,
    models: [['text-embedding-ada-002', { input: '0.1' }]],
  },
  {
    kind: 'speech',
    source: OPENAI_PAGES,
    asOf: READ,
    models: [
      ['gpt-4o-mini-tts', { input: '0.6', audioOutput: '12' }],
      ['tts-1', { perMillionCharacters: '15' }],
      ['tts-1-hd', { perMillionCharacters: '30' }],
    ],
  },
  {
    kind: 'transcription',
    source: OPENAI_PAGES,
    agrees: 'https://openrouter.ai/openai/whisper-1; https://www.getmaxim.ai/bifrost/model-library',
    asOf: READ,
    models: [
      ['gpt-4o-transcribe', { input: '2.5', output: '10' }],
      ['gpt-4o-mini-transcribe', { input: '1.25', output: '5' }],
      // 0.006 a minute.
      ['whisper-1', { perSecond: '0.0001' }],
    ],
  },
  {
    // "Free models", says its page.
    kind: 'moderation',
    source: OPENAI_PAGES,
    asOf: READ,
    models: [['omni-moderation-latest', { perCall: '0' }]],
  },
];

export const GOOGLE_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: 'https://github.com/api-evangelist/deepmind, quoting https://ai.google.dev/gemini-api/docs/pricing',
    agrees: LITELLM,
    asOf: '2026-10-07',
    models: [['gemini-embedding-2', { input: '0.2' }]],
  },
  {
    kind: 'embed',
    source: LITELLM,
    agrees:
      'https://openrouter.ai/models/google/gemini-embedding-001; https://opencode.ai/data/google/gemini-embedding-001',
    asOf: READ,
    models: [['gemini-embedding-001', { input: '0.15' }]],
  },
  {
    // Half the price until the end of 2026: from 2027 on it is 1 and 18, and 1 and 12.
    kind: 'speech',
    source: 'https://github.com/BerriAI/litellm/discussions/42776',
    asOf: READ,
    models: [
      ['gemini-3.8-flash-tts', { input: '0.5', output: '9' }],
      ['gemini-3.8-flash-lite-tts', { input: '0.5', output: '6' }],
    ],
  },
];

export const VOYAGE_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: 'https://vercel.com/ai-gateway/models/ (voyage-4-large.md, voyage-4.md, voyage-3-large.md)',
    asOf: READ,
    models: [
      ['voyage-4-large', { input: '0.12' }],
      ['voyage-4', { input: '0.06' }],
      ['voyage-3-large', { input: '0.18' }],
    ],
  },
  {
    kind: 'rerank',
    source: 'https://www.getmaxim.ai/bifrost/model-library/provider/voyage',
    agrees: 'https://openrouter.ai/voyageai (rerank-2.5-lite)',
    asOf: READ,
    models: [
      ['rerank-2.5', { input: '0.05' }],
      ['rerank-2.5-lite', { input: '0.02' }],
    ],
  },
];

export const GROQ_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'transcription',
    source: 'https://console.groq.com/docs/speech-text',
    agrees: 'https://openrouter.ai/openai/whisper-large-v3-turbo',
    asOf: READ,
    models: [
      // 0.111 an hour.
      ['whisper-large-v3', { perSecond: '0.000030834' }],
      // 0.04 an hour.
      ['whisper-large-v3-turbo', { perSecond: '0.000011112' }],
    ],
  },
];

export const MISTRAL_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: 'https://opencode.ai/data/mistral/mistral-embed',
    agrees: 'https://openrouter.ai/mistralai/mistral-embed-2312',
    asOf: READ,
    models: [['mistral-embed', { input: '0.1' }]],
  },
];

/** Of Singapore, which is asked unless the provider's address says otherwise. */
export const DASHSCOPE_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: 'https://www.alibabacloud.com/help/en/model-studio/embedding-interfaces-compatible-with-openai',
    asOf: '2025-12-15',
    models: [['text-embedding-v4', { input: '0.07' }]],
  },
];
