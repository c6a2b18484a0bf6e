/** Volcengine Ark (Doubao, Seedream). */
import { joinUrl, openaiCompatibleVendor, pathOf } from './openai-compatible.ts';
import type { Provider } from './provider.ts';
import { volcengineVideo } from './volcengine-video.ts';

const ark = openaiCompatibleVendor({
  name: 'volcengine',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  credentialVariable: 'ARK_API_KEY',
  embeddings: { plainVectors: true },
  images: {
    takesUrls: ['image'],
    editPictures: 'bare',
    mostPictures: 1,
    rejects: ['n', 'quality', 'style', 'background', 'output_compression', 'partial_images', 'negative_prompt', 'user'],
  },
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});

/** Pictures are changed where they are drawn. */
export const volcengine: Provider = {
  ...ark,
  video: volcengineVideo,
  url: ({ baseUrl }, dialect) => joinUrl(baseUrl, pathOf(dialect)),
};
