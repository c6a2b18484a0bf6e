/** List prices of models that embed, rank, speak, listen and judge. */
import type { MediaPrices } from './price-list.ts';

const OPENAI_PAGE = 'https://developers.openai.com/api/docs/pricing';
const GOOGLE_PAGE = 'https://ai.google.dev/gemini-api/docs/pricing';

export const OPENAI_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: OPENAI_PAGE,
    asOf: '2026-10-27',
    models: [
      ['text-embedding-3-small', { input: '0.02' }],
      ['text-embedding-3-large', { input: '0.13' }],
      ['text-embedding-ada-002', { input: '0.1' }],
    ],
  },
  {
    kind: 'speech',
    source: OPENAI_PAGE,
    asOf: '2026-10-27',
    models: [
      ['gpt-4o-mini-tts', { input: '0.6', audioOutput: '12' }],
      ['tts-1', { perMillionCharacters: '15' }],
      ['tts-1-hd', { perMillionCharacters: '30' }],
    ],
  },
  {
    kind: 'transcription',
    source: OPENAI_PAGE,
    asOf: '2026-10-27',
    models: [
      ['gpt-4o-transcribe', { input: '2.5', output: '10' }],
      ['gpt-4o-mini-transcribe', { input: '1.25', output: '5' }],
      // 0.006 a minute.
      ['whisper-1', { perSecond: '0.0001' }],
    ],
  },
  {
    kind: 'moderation',
    source: 'https://developers.openai.com/api/docs/guides/moderation',
    asOf: '2026-10-27',
    models: [['omni-moderation-latest', { perCall: '0' }]],
  },
];

export const GOOGLE_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: GOOGLE_PAGE,
    asOf: '2026-09-20',
    models: [
      ['gemini-embedding-2', { input: '0.2' }],
      ['gemini-embedding-001', { input: '0.15' }],
    ],
  },
  {
    // Half the price until the end of 2026: from 2027 on it is 1 and 18, and 1 and 12.
    kind: 'speech',
    source: GOOGLE_PAGE,
    asOf: '2026-11-01',
    models: [
      ['gemini-3.8-flash-tts', { input: '0.5', output: '9' }],
      ['gemini-3.8-flash-lite-tts', { input: '0.5', output: '6' }],
    ],
  },
];

export const VOYAGE_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: 'https://docs.voyageai.com/docs/pricing',
    asOf: '2026-07-27',
    models: [
      ['voyage-4-large', { input: '0.12' }],
      ['voyage-4', { input: '0.06' }],
      ['voyage-3-large', { input: '0.18' }],
    ],
  },
  {
    kind: 'rerank',
    source: 'https://docs.voyageai.com/docs/pricing',
    asOf: '2026-07-27',
    models: [
      ['rerank-2.5', { input: '0.05' }],
      ['rerank-2.5-lite', { input: '0.02' }],
    ],
  },
];

export const GROQ_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'transcription',
    source: 'https://groq.com/pricing',
    asOf: '2026-05-01',
    // 0.04 an hour.
    models: [['whisper-large-v3-turbo', { perSecond: '0.000011112' }]],
  },
];

export const MISTRAL_OTHERS: readonly MediaPrices[] = [
  {
    kind: 'embed',
    source: 'https://mistral.ai/pricing',
    asOf: '2026-07-02',
    models: [['mistral-embed', { input: '0.1' }]],
  },
];
