/** Google Cloud Vertex AI: Gemini, Veo and Claude in their own formats, open models in OpenAI's. */

import { joinUrl } from '../chat/openai-compatible.ts';
import { CLAUDE_PREFILL } from '../claude-prefill.ts';
import { unusable } from '../credential.ts';
import type { Target } from '../outgoing.ts';
import type { Provider } from '../provider.ts';
import { CLOUD_STORAGE, veoAt } from '../video/google-video.ts';
import { jsonRequest } from '../video/json-requests.ts';
import { googleAccount, googleExchange } from './google-token.ts';
import { asksForStream } from './google-url.ts';

const MESSAGES = 'anthropic-messages';
const CHAT = 'openai-chat';
const EMBEDDINGS = 'vertex-embeddings';
const IMAGEN = 'imagen';
/** A member of the body. Anthropic itself has a header for it. */
const VERSION = 'vertex-2023-10-16';
const ANYWHERE = 'global';
/** Multi-region locations have another host name. */
const MULTI_REGION = /^(us|eu)$/;
/** One official library's base URL has a version, the other's has none. */
const VERSIONED = /\/v\d+((alpha|beta)\d*)?\/?$/;
/** A name that is already a path: a tuned model's endpoint, or a publisher model's full name. */
const PATH = /^(projects|publishers|endpoints)\//;
/** Models of other companies are named `publisher/model`. */
const OPEN_MODEL = /^(?!projects\/|publishers\/|endpoints\/)[^/]+\/[^/]+$/;
/** API keys of express mode, which has no projects and locations. */
const API_KEY = /^(AIza|AQ\.)/;

export const vertex: Provider = {
  name: 'vertex',
  credentialVariable: 'GOOGLE_APPLICATION_CREDENTIALS',
  settingVariables: {
    project: ['GOOGLE_CLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'],
    location: ['GOOGLE_CLOUD_LOCATION', 'CLOUD_ML_REGION'],
  },
  needsCredential: true,
  addressOf: ({ location = ANYWHERE }) => `https://${hostOf(location)}`,
  speaks: { chat: ['gemini', MESSAGES, CHAT], image: [IMAGEN], embed: [EMBEDDINGS], speech: ['gemini-speech'] },
  only: { gemini: /^(?!.*(claude|imagen))/, [IMAGEN]: /imagen/, [MESSAGES]: /claude/, [CHAT]: OPEN_MODEL },
  serves: ({ model }, dialect) => (dialect === CHAT) === OPEN_MODEL.test(model),
  url(target, dialect, call) {
    const stream = asksForStream(call, target.model);
    switch (dialect) {
      case MESSAGES:
        return address(target, 'v1', `anthropic/models/${target.model}:${stream ? 'streamRawPredict' : 'rawPredict'}`);
      case EMBEDDINGS:
      case IMAGEN:
        return address(target, 'v1', `google/models/${target.model}:predict`);
      case CHAT:
        return joinUrl(versioned(target.baseUrl, 'v1'), `${placeOf(target)}/endpoints/openapi/chat/completions`);
      default:
        return address(
          target,
          'v1beta1',
          `google/models/${target.model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        );
    }
  },
  members: (_target, dialect) => (dialect === MESSAGES ? { model: undefined, anthropic_version: VERSION } : {}),
  authorize({ headers }, { credential }, signing) {
    delete headers['anthropic-version'];
    const account = googleAccount(credential);
    if (account) {
      return signing.token(googleExchange(credential ?? '', account)).then((token) => {
        headers.authorization = `Bearer ${token}`;
      });
    }
    if (credential === undefined) return;
    if (API_KEY.test(credential)) headers['x-goog-api-key'] = credential;
    else headers.authorization = `Bearer ${credential}`;
  },
  video: veoAt({
    start: (target) => veo(target, 'predictLongRunning'),
    ask: (operationName, target) => jsonRequest(veo(target, 'fetchPredictOperation'), { operationName }),
    bucketsAt: ({ settings }) => settings.storageUrl ?? CLOUD_STORAGE,
  }),
  otherQuirks: { image: { maxImagesPerCall: 4 } },
  quirks: {
    supportsMediaUrls: [],
    rejects: ['store'],
    supportsDeveloperRole: false,
    models: [{ match: '(^|/)gemini-(1|2\\.0)', quirks: { supportsJsonSchema: false } }, CLAUDE_PREFILL],
  },
};

function veo(target: Target, action: string): string {
  return address(target, 'v1', `google/models/${target.model}:${action}`);
}

function hostOf(location: string): string {
  if (location === ANYWHERE) return 'aiplatform.googleapis.com';
  return MULTI_REGION.test(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}

/** `publisherPath`: what follows `publishers/`, with the action. */
function address(target: Target, version: string, publisherPath: string): string {
  const base = versioned(target.baseUrl, version);
  const { model } = target;
  if (API_KEY.test(target.credential ?? '')) return joinUrl(base, `/publishers/${publisherPath}`);
  if (!PATH.test(model)) return joinUrl(base, `${placeOf(target)}/publishers/${publisherPath}`);
  const path = model + publisherPath.slice(publisherPath.indexOf(model) + model.length);
  return joinUrl(base, model.startsWith('projects/') ? `/${path}` : `${placeOf(target)}/${path}`);
}

function versioned(baseUrl: string, version: string): string {
  return VERSIONED.test(baseUrl) ? baseUrl : joinUrl(baseUrl, `/${version}`);
}

function placeOf({ settings, credential }: Target): string {
  const project = settings.project ?? googleAccount(credential)?.project_id;
  if (typeof project !== 'string') throw unusable('its setting `project` is missing');
  return `/projects/${project}/locations/${settings.location ?? ANYWHERE}`;
}
