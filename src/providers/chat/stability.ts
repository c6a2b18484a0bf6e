/** Stability AI, as https://platform.stability.ai/docs/api-reference has it. */

import type { Provider } from '../provider.ts';
import { authorizeByBearer, joinUrl } from './openai-compatible.ts';

/** Which service draws; models that are none of these share one. */
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
    // Else the image comes as bare bytes.
    outgoing.headers.accept = 'application/json';
  },
  otherQuirks: {
    image: { maxImagesPerCall: 1, models: [{ match: '^stable-image-core', quirks: { supportsImageInput: false } }] },
  },
};
