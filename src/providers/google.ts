/** Google's Gemini API (AI Studio). */
import { joinUrl } from './openai-compatible.ts';
import type { Provider } from './provider.ts';

/** The official library's address ends before the version, others' with it. */
const VERSIONED = /\/v\d+((alpha|beta)\d*)?\/?$/;
const COLLECTION = /^(models|tunedModels)\//;

export const google: Provider = {
  name: 'google',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  credentialVariable: 'GEMINI_API_KEY',
  needsCredential: true,
  speaks: { chat: ['gemini'], embed: ['gemini-batch-embed'] },
  url({ baseUrl, model }, _dialect, call) {
    const path = COLLECTION.test(model) ? `/${model}` : `/models/${model}`;
    const action = call.kind === 'embed' ? 'batchEmbedContents' : generateAction(call.stream);
    return joinUrl(VERSIONED.test(baseUrl) ? baseUrl : joinUrl(baseUrl, '/v1beta'), `${path}:${action}`);
  },
  authorize({ headers }, { credential }) {
    if (credential !== undefined) headers['x-goog-api-key'] = credential;
  },
  quirks: { models: [{ match: '^(models/)?gemini-(1|2\\.0)', quirks: { schemas: 'openapi' } }] },
  otherQuirks: { embed: { mostInputs: 100 } },
};

function generateAction(stream: boolean): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
}
