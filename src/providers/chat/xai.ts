/** xAI. Images: https://docs.x.ai/developers/model-capabilities/images/generation, and recordings. */

import { xaiVideo } from '../video/xai-video.ts';
import { OUTPUT_SETTINGS } from './image-settings.ts';
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const xai = openaiCompatibleProvider({
  name: 'xai',
  baseUrl: 'https://api.x.ai/v1',
  credentialVariable: 'XAI_API_KEY',
  responses: true,
  video: xaiVideo,
  images: {
    supportsMediaUrls: ['image'],
    requiresEditImages: 'typed',
    requiresImageRatios: [
      '1:1',
      '16:9',
      '9:16',
      '4:3',
      '3:4',
      '3:2',
      '2:3',
      '2:1',
      '1:2',
      '20:9',
      '9:20',
      '19.5:9',
      '9:19.5',
    ],
    supportsImageResolutions: { '1K': '1k', '2K': '2k', '3K': '2k', '4K': '2k' },
    maxImagesPerCall: 10,
    rejects: ['style', ...OUTPUT_SETTINGS],
    // The first image models have no quality setting.
    models: [{ match: '^(grok-2-image|grok-imagine-image(-quality|-pro)?$)', quirks: { rejects: ['quality'] } }],
  },
  quirks: {
    returnsReasoningBesideOutput: true,
    models: [
      { match: '^grok-(3-mini|[4-9]|code)', quirks: { rejects: ['presence_penalty', 'frequency_penalty'] } },
      { match: '^grok-([3-9]|code)(?!.*non-reasoning)', quirks: { rejects: ['stop'] } },
      // Only some reasoning models have an effort setting.
      {
        match: '^grok-(3$|3-(?!mini)|4$|4-|4\\.20-(?!multi-agent)|code)',
        quirks: { rejects: ['reasoning_effort', 'reasoning'] },
      },
    ],
  },
});
