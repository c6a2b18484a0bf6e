/** Azure OpenAI, and models of other makers in Azure's Foundry: the model is the name of a deployment. */
import { joinUrl, openaiCompatibleVendor, pathOf } from './openai-compatible.ts';
import { OPENAI_COMPLETIONS_ONLY, OPENAI_MODELS } from './openai-models.ts';
import type { Provider, Target } from './provider.ts';

/** An address that already names its API: `…/openai/v1`, or Foundry's `…/models`. */
const WHOLE_ADDRESS = /\/(v1|models)\/?$/;

export const azure: Provider = {
  ...openaiCompatibleVendor({
    name: 'azure',
    credentialVariable: 'AZURE_OPENAI_API_KEY',
    baseUrlVariable: 'AZURE_OPENAI_ENDPOINT',
    completions: true,
    embeddings: {},
    only: OPENAI_COMPLETIONS_ONLY,
    quirks: { developerRole: 'developer', reasoningField: 'none', models: OPENAI_MODELS },
  }),
  url(target, dialect) {
    const { apiVersion } = target.settings;
    const url = joinUrl(apiAddress(target), pathOf(dialect));
    return apiVersion === undefined ? url : `${url}?api-version=${encodeURIComponent(apiVersion)}`;
  },
  authorize(outgoing, target) {
    if (target.credential !== undefined) outgoing.headers['api-key'] = target.credential;
  },
};

/** With `apiVersion` a resource is asked by deployment, as the dated versions want it; without, through the v1 API. */
function apiAddress({ baseUrl, model, settings }: Target): string {
  if (WHOLE_ADDRESS.test(baseUrl)) return baseUrl;
  if (settings.apiVersion === undefined) return joinUrl(baseUrl, '/openai/v1');
  return joinUrl(baseUrl, `/openai/deployments/${encodeURIComponent(model)}`);
}
