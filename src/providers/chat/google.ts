/** Google's Gemini API (AI Studio). */
import type { Kind } from '../../canonical/call.ts';
import { asksForStream, googleModelsUrl, googleUrl } from '../clouds/google-url.ts';
import type { Provider } from '../provider.ts';
import { googleVideo } from '../video/google-video.ts';

const ACTIONS: { readonly [kind in Kind]?: string } = { embed: 'batchEmbedContents', image: 'predict' };

export const google: Provider = {
  name: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  credentialVariable: 'GEMINI_API_KEY',
  needsCredential: true,
  speaks: { chat: ['gemini'], image: ['imagen'], embed: ['gemini-batch-embed'], speech: ['gemini-speech'] },
  only: { imagen: /^(models\/)?imagen/ },
  url({ baseUrl, model }, _dialect, call) {
    const action = ACTIONS[call.kind] ?? generateAction(asksForStream(call, model));
    return googleUrl(baseUrl, model, action);
  },
  modelsUrl: googleModelsUrl,
  authorize({ headers }, { credential }) {
    if (credential !== undefined) headers['x-goog-api-key'] = credential;
  },
  video: googleVideo,
  quirks: { models: [{ match: '^(models/)?gemini-(1|2\\.0)', quirks: { supportsJsonSchema: false } }] },
  otherQuirks: {
    embed: { maxInputsPerCall: 100 }, // Parameters of Imagen on Vertex AI that the Gemini API does not have.
    image: { maxImagesPerCall: 4, rejects: ['negative_prompt', 'seed'] },
  },
};

function generateAction(stream: boolean): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
}
