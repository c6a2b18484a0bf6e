/** Together AI. Images: https://docs.together.ai/reference/post-images-generations. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const together = openaiCompatibleProvider({
  name: 'together',
  baseUrl: 'https://api.together.ai/v1',
  credentialVariable: 'TOGETHER_API_KEY',
  embeddings: { supportsEncodingFormat: false },
  rerank: {},
  images: {
    supportsMediaUrls: ['image'],
    requiresBase64Word: 'base64',
    requiresImageSides: true,
    supportsImageBounds: { grid: 8 },
    maxImagesPerCall: 4,
    requiresEditImages: 'reference_images',
    rejects: ['quality', 'style', 'background', 'output_compression', 'stream', 'partial_images', 'user'],
    models: [
      { match: 'kontext', quirks: { requiresEditImages: 'image_url' } },
      {
        match: 'kontext|schnell',
        quirks: { requiresImageRatios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'] },
      },
      { match: 'schnell|FLUX\\.1(\\.1)?-(pro|dev)|stable-diffusion', quirks: { supportsImageInput: false } },
    ],
  },
  editsWhereGenerated: true,
  speech: { supportsSpeechEvents: 'never', rejects: ['instructions', 'speed'] },
  transcription: { rejects: ['stream', 'include[]', 'chunking_strategy'] },
  completions: true,
  quirks: { renames: { max_completion_tokens: 'max_tokens' }, reasoningField: 'reasoning' },
});
