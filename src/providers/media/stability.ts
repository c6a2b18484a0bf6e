/** Stability AI. Source: https://platform.stability.ai/docs/api-reference. */

import { authorizeByBearer, joinUrl } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';

/** The service by model. Other models share one. */
const SERVICES: { readonly [model: string]: string } = { 'stable-image-core': 'core', 'stable-image-ultra': 'ultra' };

export const stability: Provider = {
  name: 'stability',
  baseUrl: 'https://api.stability.ai',
  credentialVariable: 'STABILITY_API_KEY',
  needsCredential: true,
  speaks: { image: ['stability'] },
  url: ({ baseUrl, model }) => joinUrl(baseUrl, `/v2beta/stable-image/generate/${SERVICES[model] ?? 'sd3'}`),
  authorize(outgoing, target) {
    authorizeByBearer(outgoing, target);
    // Otherwise the image is returned as raw bytes.
    outgoing.headers.accept = 'application/json';
  },
  otherQuirks: {
    image: { maxImagesPerCall: 1, models: [{ match: '^stable-image-core', quirks: { supportsImageInput: false } }] },
  },
};
