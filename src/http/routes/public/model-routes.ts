/** The models that a key may call: the list and each model, in the API format of the client. */
import { type Static, Type } from 'typebox';
import { type Caller, mayCall, nameFor } from '../../../access/access.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Catalog, Model } from '../../../catalog/catalog.ts';
import { isWildcard } from '../../../catalog/names.ts';
import { nearestModel } from '../../../gateway/admit/unknown-model.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { modelPath } from './google-path.ts';
import { anthropicModel, anthropicPage, googleModel, googlePage, openaiList, openaiModel } from './model-shapes.ts';

const ANY_KEY = { anthropic: true, google: true } as const;

/** The parameters of all three formats; each reads its own. */
const Paging = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'an integer from 1 to 1000' })),
  before_id: Type.Optional(Type.String()),
  after_id: Type.Optional(Type.String()),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, description: 'an integer of at least 1' })),
  pageToken: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
});
type Paging = Static<typeof Paging>;

export const MODEL_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/v1/models', {
    gate: 'caller',
    scope: 'models',
    carriers: ANY_KEY,
    summary: 'Lists the models that the key can call.',
    query: Paging,
    answer: (deps, request) => listModels(deps, request, shapeOf(request)),
  }),
  route('GET', '/v1/models/:id{.+}', {
    gate: 'caller',
    scope: 'models',
    carriers: ANY_KEY,
    summary: 'Shows one model.',
    reading: modelPath('/v1/models'),
    query: Paging,
    answer: (deps, request) => showModel(deps, request, shapeOf(request)),
  }),
  route('GET', '/v1beta/models', {
    gate: 'caller',
    scope: 'models',
    carriers: ANY_KEY,
    summary: 'Lists the models that the key can call, in the Google format.',
    query: Paging,
    answer: (deps, request) => listModels(deps, request, 'google'),
  }),
  route('GET', '/v1beta/models/:id{.+}', {
    gate: 'caller',
    scope: 'models',
    carriers: ANY_KEY,
    summary: 'Shows one model in the Google format.',
    reading: modelPath('/v1beta/models'),
    query: Paging,
    answer: (deps, request) => showModel(deps, request, 'google'),
  }),
];

type Shape = 'openai' | 'anthropic' | 'google';

/** See docs/api.md#model-lists: the first match wins. */
function shapeOf({ headers, query }: RouteRequest<Paging, unknown>): Shape {
  if (headers.has('x-api-key') || headers.has('anthropic-version') || headers.has('vendor1-version'))
    return 'anthropic';
  if (headers.has('x-goog-api-key') || headers.has('x-vendor2-api-key') || query.key !== undefined) return 'google';
  return 'openai';
}

function listModels(deps: HttpDeps, { caller, query }: RouteRequest<Paging, unknown>, shape: Shape): object {
  const models = callable(deps.catalog, caller);
  switch (shape) {
    case 'openai':
      return openaiList(models);
    case 'anthropic':
      return anthropicPage(models, query);
    case 'google':
      return googlePage(models, query);
    default:
      return shape satisfies never;
  }
}

function showModel(deps: HttpDeps, { caller, path }: RouteRequest<Paging, unknown>, shape: Shape): object {
  const id = path.id ?? '';
  const known = (name: string) => {
    const model = deps.catalog.find(nameFor(caller, name));
    return model && mayCall(caller, model, name) ? { ...model, name } : undefined;
  };
  // Google's clients write "models/x" where others write "x".
  const model = known(id) ?? (id.startsWith('models/') ? known(id.slice('models/'.length)) : undefined);
  if (!model) {
    const near = nearestModel(deps.catalog, caller, id.replace(/^models\//, ''));
    const hint = near === undefined ? '' : ` Did you mean \`${near}\`?`;
    const sentence = `There is no model \`${id}\` that this key can call.${hint} GET /v1/models lists the available models.`;
    throw new GatewayError('model_not_found', sentence, { param: 'model' });
  }
  switch (shape) {
    case 'openai':
      return openaiModel(model);
    case 'anthropic':
      return anthropicModel(model);
    case 'google':
      return googleModel(model);
    default:
      return shape satisfies never;
  }
}

/** Every name that the key may call: models, their aliases and its own. A wildcard is no name, and what it matches is unknown here. */
function callable(catalog: Catalog, caller: Caller): readonly Model[] {
  const models = catalog.list().filter(({ name }) => !isWildcard(name));
  const isPlain = !caller.aliases && models.every(({ aliases }) => !aliases);
  if (isPlain) return caller.models ? models.filter((model) => mayCall(caller, model)) : models;
  const names = [...models.flatMap(({ name, aliases = [] }) => [name, ...aliases]), ...(caller.aliases?.keys() ?? [])];
  return [...new Set(names)].flatMap((name) => {
    const model = catalog.find(nameFor(caller, name));
    return model && mayCall(caller, model, name) ? [{ ...model, name }] : [];
  });
}
