/** Google's Gemini API (AI Studio). */
import type { Kind } from '../canonical/call.ts';
import { joinUrl } from './openai-compatible.ts';
import type { Provider } from './provider.ts';

/** The official library's address ends before the version, others' with it. */
const VERSIONED = /\/v\d+((alpha|beta)\d*)?\/?$/;
const COLLECTION = /^(models|tunedModels)\//;

const ACTIONS: { readonly [kind in Kind]?: string } = { embed: 'batchEmbedContents', image: 'predict' };

export const google: Provider = {
  name: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  credentialVariable: 'GEMINI_API_KEY',
  needsCredential: true,
  speaks: { chat: ['gemini'], image: ['imagen'], embed: ['gemini-batch-embed'] },
  only: { imagen: /^(models\/)?imagen/ },
  url({ baseUrl, model }, _dialect, call) {
    const path = COLLECTION.test(model) ? `/${model}` : `/models/${model}`;
    const action = ACTIONS[call.kind] ?? generateAction(call.stream);
    return joinUrl(VERSIONED.test(baseUrl) ? baseUrl : joinUrl(baseUrl, '/v1beta'), `${path}:${action}`);
  },
  authorize({ headers }, { credential }) {
    if (credential !== undefined) headers['x-goog-api-key'] = credential;
  },
  quirks: { models: [{ match: '^(models/)?gemini-(1|2\\.0)', quirks: { schemas: 'openapi' } }] },
  otherQuirks: { embed: { mostInputs: 100 }, image: { mostPictures: 4 } },
};

function generateAction(stream: boolean): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
}
