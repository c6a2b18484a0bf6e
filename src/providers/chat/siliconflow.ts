/** SiliconFlow. Images: https://docs.siliconflow.cn/en/api-reference/images/images-generations. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const siliconflow = openaiCompatibleProvider({
  name: 'siliconflow',
  baseUrl: 'https://api.siliconflow.com/v1',
  credentialVariable: 'SILICONFLOW_API_KEY',
  embeddings: { supportsEncodingFormat: false, rejects: ['user'], maxInputsPerCall: 32 },
  rerank: {},
  speech: { supportsSpeechEvents: 'never', rejects: ['instructions'] },
  transcription: {
    transcripts: 'text',
    rejects: [
      'language',
      'prompt',
      'temperature',
      'stream',
      'include[]',
      'chunking_strategy',
      'timestamp_granularities[]',
    ],
  },
  images: {
    supportsMediaUrls: ['image'],
    renames: { size: 'image_size', n: 'batch_size' },
    requiresEditImages: 'numbered',
    maxImagesPerCall: 1,
    rejects: [
      'quality',
      'style',
      'background',
      'output_compression',
      'response_format',
      'stream',
      'partial_images',
      'user',
    ],
    models: [
      {
        match: 'Kolors',
        quirks: {
          maxImagesPerCall: 4,
          requiresImageSize: true,
          supportsImageSizes: ['1024x1024', '960x1280', '768x1024', '720x1440', '720x1280'],
        },
      },
      {
        match: 'Qwen-Image$',
        quirks: {
          supportsImageInput: false,
          requiresImageSize: true,
          supportsImageSizes: ['1328x1328', '1664x928', '928x1664', '1472x1140', '1140x1472', '1584x1056', '1056x1584'],
        },
      },
      // An edited image keeps its size.
      { match: 'Qwen-Image-Edit', quirks: { rejects: ['size'] } },
    ],
  },
  editsWhereGenerated: true,
  quirks: { renames: { max_completion_tokens: 'max_tokens' } },
});
