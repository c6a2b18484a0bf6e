/** List prices of models that draw and video. */
import type { MediaPrices } from './listed-price.ts';

/**
 * Text, images given and images generated are tokens of several prices; a cache's lower price of text is left out, since it
 * is not that of images. The text that GPT Image 2 and later write costs what their images do: no other price is told.
 */
export const OPENAI_IMAGES: readonly MediaPrices[] = [
  {
    kind: 'image',
    source: 'https://docs.apiyi.com/en/news/gpt-image-2-5-launch.md, quoting OpenAI',
    agrees: 'https://vercel.com/ai-gateway/models/gpt-image-2.md; https://apidog.com/blog/gpt-image-2-5-api/',
    asOf: '2026-09-09',
    models: [
      ['gpt-image-2.5-flare', { input: '5', imageInput: '8', output: '30', imageOutput: '30' }],
      ['gpt-image-2.5-sunburst', { input: '5', imageInput: '8', output: '30', imageOutput: '30' }],
      ['gpt-image-2', { input: '5', imageInput: '8', output: '30', imageOutput: '30' }],
      ['gpt-image-2-2026-04-21', { input: '5', imageInput: '8', output: '30', imageOutput: '30' }],
    ],
  },
  {
    // The table is of its other name, chatgpt-image-latest; the prices by the image that the second tells are these.
    kind: 'image',
    source: 'https://raw.githubusercontent.com/Oaklight/onehub_prices/prices/oneapi_prices.json',
    agrees: 'https://docs.apiyi.com/api-capabilities/gpt-image-2/historical-versions',
    asOf: '2026-11-21',
    models: [['gpt-image-1.5', { input: '5', imageInput: '8', output: '10', imageOutput: '32' }]],
  },
  {
    kind: 'image',
    source: 'https://developers.openai.com/api/docs/models/gpt-image-1-mini',
    agrees: 'https://github.com/BerriAI/litellm/blob/00035b6/model_prices_and_context_window.json',
    asOf: '2026-11-21',
    models: [['gpt-image-1-mini', { input: '2', imageInput: '2.5', output: '8', imageOutput: '8' }]],
  },
];

export const GOOGLE_IMAGES: readonly MediaPrices[] = [
  {
    kind: 'image',
    source: 'https://github.com/BerriAI/litellm/blob/00035b6/model_prices_and_context_window.json',
    agrees: 'https://github.com/api-evangelist/deepmind, quoting https://ai.google.dev/gemini-api/docs/pricing',
    asOf: '2026-10-07',
    models: [
      ['gemini-3-pro-image', { input: '2', output: '12', imageOutput: '120' }],
      ['gemini-3-pro-image-preview', { input: '2', output: '12', imageOutput: '120' }],
    ],
  },
  {
    kind: 'image',
    source: 'https://github.com/BerriAI/litellm/blob/00035b6/model_prices_and_context_window.json',
    agrees: 'https://github.com/HeyPuter/puter/pull/2562',
    asOf: '2026-11-21',
    models: [['gemini-2.5-flash-image', { input: '0.3', output: '2.5', imageOutput: '30' }]],
  },
  {
    kind: 'image',
    source: 'https://github.com/BerriAI/litellm/discussions/44983',
    asOf: '2026-11-21',
    models: [['gemini-nano-banana-2.1', { input: '1.5', output: '7.5', imageOutput: '30' }]],
  },
];

export const GOOGLE_VIDEOS: MediaPrices = {
  kind: 'video',
  source: 'https://reapi.ai/ru/blog/cheapest-veo-3-1-api-2026, quoting https://ai.google.dev/gemini-api/docs/pricing',
  agrees: 'https://theplanettools.ai/blog/veo-3-1-lite-vs-fast-vs-full-comparison-2026',
  asOf: '2026-05-01',
  models: [
    ['veo-3.1-generate-preview', { perSecond: byResolution('0.4', '0.4', '0.6') }],
    ['veo-3.1-fast-generate-preview', { perSecond: byResolution('0.1', '0.12', '0.3') }],
    ['veo-3.1-lite-generate-preview', { perSecond: byResolution('0.05', '0.08') }],
  ],
};

/** A size that is no 720p, and no 4K, is taken as 1080p. */
function byResolution(hd: string, fullHd: string, fourK?: string) {
  const rows = (price: string, ...sizes: string[]) => sizes.map((size) => ({ size, price }));
  return [
    { price: fullHd },
    ...rows(hd, '720p', '1280x720', '720x1280'),
    ...(fourK === undefined ? [] : rows(fourK, '4k', '4K', '2160p', '3840x2160', '2160x3840')),
  ];
}
