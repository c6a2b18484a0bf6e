/** Volcengine Ark (Doubao, Seedream) and BytePlus ModelArk. Images: https://www.volcengine.com/docs/82379/1541523. */
import type { Quirks } from '../../dialects/shared/quirks.ts';
import type { Provider } from '../provider.ts';
import { volcengineVideo } from '../video/volcengine-video.ts';
import { openaiCompatibleProvider } from './openai-compatible.ts';

/** One image per call: a set is requested through the prompt. Its stream events differ and have no partial images. */
const IMAGES = {
  supportsMediaUrls: ['image'],
  requiresEditImages: 'bare',
  maxImagesPerCall: 1,
  rejects: [
    'n',
    'quality',
    'style',
    'background',
    'output_compression',
    'stream',
    'partial_images',
    'negative_prompt',
    'user',
  ],
  models: [
    {
      match: 'seedream-3',
      quirks: {
        supportsImageInput: false,
        rejects: ['output_format'],
        supportsImageBounds: { leastSide: 512, mostSide: 2048 },
      },
    },
    { match: 'seededit-3', quirks: { rejects: ['size', 'output_format'] } },
    { match: 'seedream-[45]', quirks: { rejects: ['seed'] } },
    {
      match: 'seedream-4-0',
      quirks: {
        rejects: ['output_format'],
        supportsImageSizeNames: ['1K', '2K', '4K'],
        supportsImageBounds: { least: 921_600, most: 16_777_216, mostRatio: 16 },
      },
    },
    {
      match: 'seedream-4-5',
      quirks: {
        rejects: ['output_format'],
        supportsImageSizeNames: ['2K', '4K'],
        supportsImageBounds: { least: 3_686_400, most: 16_777_216, mostRatio: 16 },
      },
    },
    {
      match: 'seedream-5-0',
      quirks: {
        supportsImageSizeNames: ['2K', '3K'],
        supportsImageBounds: { least: 3_686_400, most: 10_404_496, mostRatio: 16 },
      },
    },
  ],
} satisfies Quirks;

const ark = openaiCompatibleProvider({
  name: 'volcengine',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  credentialVariable: 'ARK_API_KEY',
  embeddings: { supportsEncodingFormat: false },
  images: IMAGES,
  editsWhereGenerated: true,
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});

export const volcengine: Provider = { ...ark, video: volcengineVideo };
