/** Azure OpenAI, and other models in Azure AI Foundry. The model is the name of a deployment. */

import { joinUrl, openaiCompatibleProvider, pathOf } from '../chat/openai-compatible.ts';
import {
  OPENAI_IMAGE_MODELS,
  OPENAI_MODELS,
  OPENAI_ONLY,
  OPENAI_SPEECH,
  OPENAI_UNTHINKING_TOOLS,
} from '../chat/openai-models.ts';
import { unusable } from '../credential.ts';
import type { Target } from '../outgoing.ts';
import type { Provider, TokenExchange } from '../provider.ts';
import { openaiVideoAt } from '../video/openai-video.ts';
import { readToken, tokenForm } from './oauth-form.ts';

const CHAT = 'openai-chat';
const RESPONSES = 'openai-responses';
/** Only the v1 API has it. */
const COMPACT = 'openai-responses-compact';
/**
 * A base URL that already contains the API: `…/openai/v1`, or Foundry's `…/models`, which only serves chat completions.
 */
const WHOLE_ADDRESS = /\/(v1|models)\/?$/;
const FOUNDRY = /\/models\/?$/;
/** The first dated version with Responses. */
const FIRST_WITH_RESPONSES = '2025-03-01';
/** Microsoft Entra tokens are JWTs; API keys are not. */
const ENTRA_TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
const ENTRA_ADDRESS = 'https://login.microsoftonline.com';
const SCOPE = 'https://cognitiveservices.azure.com/.default';

export const azure: Provider = {
  ...openaiCompatibleProvider({
    name: 'azure',
    credentialVariable: 'AZURE_OPENAI_API_KEY',
    baseUrlVariable: 'AZURE_OPENAI_ENDPOINT',
    settingVariables: { apiVersion: ['OPENAI_API_VERSION'] },
    completions: true,
    responses: true,
    compacts: true,
    images: { ...OPENAI_IMAGE_MODELS, requiresEditForm: true },
    embeddings: {},
    speech: OPENAI_SPEECH,
    transcription: {},
    only: OPENAI_ONLY,
    unthinkingTools: OPENAI_UNTHINKING_TOOLS,
    quirks: { supportsDeveloperRole: true, reasoningField: 'none', models: OPENAI_MODELS },
  }),
  video: openaiVideoAt((target, path) => {
    const { apiVersion } = target.settings;
    const url = joinUrl(v1Address(target), path);
    return apiVersion !== undefined && V1_VERSION.test(apiVersion) ? `${url}?api-version=${apiVersion}` : url;
  }),
  serves({ baseUrl, settings: { apiVersion } }, dialect) {
    if (FOUNDRY.test(baseUrl)) return dialect === CHAT;
    if (dialect === COMPACT) return WHOLE_ADDRESS.test(baseUrl) || apiVersion === undefined;
    return (
      dialect !== RESPONSES ||
      WHOLE_ADDRESS.test(baseUrl) ||
      (apiVersion ?? FIRST_WITH_RESPONSES) >= FIRST_WITH_RESPONSES
    );
  },
  url(target, dialect, call) {
    const { apiVersion } = target.settings;
    const url = joinUrl(apiAddress(target, dialect), pathOf(dialect, call));
    return apiVersion === undefined ? url : `${url}?api-version=${encodeURIComponent(apiVersion)}`;
  },
  authorize({ headers }, target, signing) {
    const { credential, settings } = target;
    if (credential === undefined) return;
    if (settings.tenantId !== undefined) {
      return signing.token(entraExchange(credential, settings)).then((token) => {
        headers.authorization = `Bearer ${token}`;
      });
    }
    if (ENTRA_TOKEN.test(credential)) headers.authorization = `Bearer ${credential}`;
    else headers['api-key'] = credential;
  },
};

/** Only the v1 API has videos. Its versions are names, not dates. */
const V1_VERSION = /^(v1|preview)$/;

function v1Address({ baseUrl }: Target): string {
  return /\/v1\/?$/.test(baseUrl) ? baseUrl : joinUrl(baseUrl.replace(FOUNDRY, ''), '/openai/v1');
}

/**
 * With `apiVersion`, the URL names the deployment, as dated versions require. Responses and the v1 API name it in the
 * body.
 */
function apiAddress({ baseUrl, model, settings }: Target, dialect: string): string {
  if (WHOLE_ADDRESS.test(baseUrl)) return baseUrl;
  if (settings.apiVersion === undefined) return joinUrl(baseUrl, '/openai/v1');
  if (dialect === RESPONSES) return joinUrl(baseUrl, '/openai');
  return joinUrl(baseUrl, `/openai/deployments/${encodeURIComponent(model)}`);
}

/** The credential is the client secret of an Entra application. */
function entraExchange(secret: string, settings: Target['settings']): TokenExchange {
  const { tenantId = '', clientId, scope = SCOPE, authority = ENTRA_ADDRESS } = settings;
  if (clientId === undefined) throw unusable('its setting `clientId` is missing');
  const members = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret, scope };
  return {
    key: `${authority} ${tenantId} ${clientId} ${scope} ${secret}`,
    request: () => tokenForm(joinUrl(authority, `/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`), members),
    read: readToken,
  };
}
