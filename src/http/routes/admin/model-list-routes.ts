/** Admin API: the models that a provider lists, asked for when somebody adds it. */
import { type Static, Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { readCatalogue } from '../../../catalog/catalogue.ts';
import type { ProviderRow } from '../../../store/catalog-rows.ts';
import { named } from '../../fields/named.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';

const ModelListRequest = Type.Object(
  {
    provider: Type.Optional(Type.String({ description: 'the name of a provider that is saved' })),
    type: Type.Optional(Type.String({ description: 'the type of a provider that is not saved' })),
    baseUrl: Type.Optional(Type.String()),
    credential: Type.Optional(Type.String({ description: 'sent to the provider, not stored' })),
    settings: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
);
type ModelListRequest = Static<typeof ModelListRequest>;

const FoundModels = named('FoundModels', {
  data: Type.Array(
    Type.Object({
      id: Type.String({ description: "the model's name at the provider" }),
      kind: Type.Optional(Type.String()),
      price: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { description: 'the list price, in the form of modelport.yaml' }),
      ),
      contextTokens: Type.Optional(Type.Integer()),
      maxOutputTokens: Type.Optional(Type.Integer()),
    }),
  ),
  hasMore: Type.Boolean({ description: 'the provider lists more models than these' }),
  problem: Type.Optional(
    Type.Object(
      {
        code: Type.String({ description: 'credential_refused, unreachable or no_list' }),
        message: Type.String(),
      },
      { description: 'why there are no models, or not all' },
    ),
  ),
});

export const MODEL_LIST_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/providers/found-models', {
    gate: 'admin',
    permission: 'supply:write',
    summary:
      'Asks a provider for its list of models: one that is saved (`provider`), or one that is not (`type`, `credential`). Changes nothing.',
    body: ModelListRequest,
    reply: FoundModels,
    answer: findModels,
  }),
];

async function findModels(deps: HttpDeps, { body }: RouteRequest<unknown, ModelListRequest>): Promise<object> {
  const isSaved = body.provider !== undefined;
  const row = isSaved ? await savedProvider(deps, body) : typedProvider(body);
  const asking = deps.listModels(row, isSaved);
  if (!asking) {
    const sentence = 'There is no address to ask: the type is not known, or it needs a "baseUrl".';
    throw new GatewayError('invalid_request', sentence, { param: isSaved ? 'provider' : 'type' });
  }
  const { models, ...more } = await asking;
  return { data: models, ...more };
}

/** Asked at its own address with its own credential: nobody gets that to another address by a list. */
async function savedProvider({ store }: HttpDeps, { provider, ...others }: ModelListRequest): Promise<ProviderRow> {
  const [other] = Object.keys(others);
  if (other !== undefined) {
    const sentence = `"${other}" must be absent: a saved provider is asked as it is.`;
    throw new GatewayError('invalid_request', sentence, { param: other });
  }
  const row = (await store.providers()).find(({ name }) => name === provider);
  if (row) return row;
  throw new GatewayError('not_found', `There is no provider "${provider}".`, { param: 'provider' });
}

/** The members are checked as those of modelport.yaml. */
function typedProvider({ provider: _, ...typed }: ModelListRequest): ProviderRow {
  try {
    const [entry] = readCatalogue({ providers: [{ name: 'typed', ...typed }] }).providers;
    if (entry) return { ...entry, credentials: entry.credentials ?? [] };
  } catch (thrown) {
    const top = 'providers[0].';
    if (!(thrown instanceof GatewayError) || !thrown.param?.startsWith(top)) throw thrown;
    throw new GatewayError(thrown.code, thrown.message.replaceAll(top, ''), { param: thrown.param.slice(top.length) });
  }
  throw new GatewayError('invalid_request', '"type" is missing.', { param: 'type' });
}
