/** xAI. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

export const xai = openaiCompatibleVendor({
  name: 'xai',
  baseUrl: 'https://api.x.ai/v1',
  credentialVariable: 'XAI_API_KEY',
  responses: true,
  images: {
    takesUrls: ['image'],
    editPictures: 'typed',
    pictureRatios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2'],
    rejects: [
      'quality',
      'style',
      'background',
      'output_format',
      'output_compression',
      'stream',
      'partial_images',
      'negative_prompt',
      'seed',
    ],
  },
  quirks: {
    reasoningBesideOutput: true,
    models: [
      { match: '^grok-(3-mini|[4-9]|code)', quirks: { rejects: ['presence_penalty', 'frequency_penalty'] } },
      { match: '^grok-([3-9]|code)(?!.*non-reasoning)', quirks: { rejects: ['stop'] } },
      // Of the models that think only some let themselves be told how hard.
      {
        match: '^grok-(3$|3-(?!mini)|4$|4-|4\\.20-(?!multi-agent)|code)',
        quirks: { rejects: ['reasoning_effort', 'reasoning'] },
      },
    ],
  },
});
