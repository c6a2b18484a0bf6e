/** Admin API: providers, models and prices, in the form of `modelport.yaml`. */
import { type Static, type TSchema, Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { lastFour, SECRET_SETTING } from '../../../canonical/redaction.ts';
import { priceIdAt } from '../../../catalog/offer.ts';
import { readComponents, writePeoplesPrice } from '../../../catalog/price-text.ts';
import type { ModelRow, ProviderRow } from '../../../store/catalog-rows.ts';
import type { Store } from '../../../store/store.ts';
import { named as namedSchema } from '../../fields/named.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import { Time, writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type Method, type RouteRequest, route } from '../../route.ts';
import { audited } from './audit-routes.ts';
import { PriceVersion, writePrice, writePriceVersion, writeScheduled } from './price-routes.ts';

/** Only the name is checked here. The catalogue checks the rest, as for the file. */
const WrittenEntry = Type.Object(
  { name: Type.Optional(Type.String({ minLength: 1, description: 'a name' })) },
  { description: 'an entry in the form of modelport.yaml' },
);
type WrittenEntry = Static<typeof WrittenEntry>;

const Price = Type.Record(Type.String(), Type.Unknown(), {
  description: 'USD per million tokens and so on, in the form of modelport.yaml',
});

const Provider = namedSchema('Provider', {
  name: Type.String(),
  type: Type.String(),
  baseUrl: Type.Optional(Type.String()),
  credentials: Type.Array(Type.String({ description: 'the last four characters' })),
  settings: Type.Record(Type.String(), Type.String()),
  concurrency: Type.Optional(Type.Integer()),
  tokensPerMinute: Type.Optional(Type.Integer()),
  queueMs: Type.Optional(Type.Integer()),
});

const Target = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  priority: Type.Integer(),
  weight: Type.Number(),
  cost: Type.Optional(Price),
  inputs: Type.Optional(Type.Array(Type.String())),
  tools: Type.Optional(Type.Boolean()),
  structuredOutput: Type.Optional(Type.Boolean()),
  contextTokens: Type.Optional(Type.Integer()),
  dataPolicy: Type.Optional(Type.String()),
});

const Fallback = Type.Object({ model: Type.String(), on: Type.Array(Type.String()) });

const Model = namedSchema('CatalogModel', {
  name: Type.String(),
  aliases: Type.Optional(Type.Array(Type.String())),
  fallbacks: Type.Optional(Type.Array(Fallback)),
  kind: Type.String(),
  price: Price,
  priceId: Type.String({ description: 'the price version in use' }),
  scheduled: Type.Optional(
    Type.Array(Type.Object({ priceId: Type.String(), from: Time }), { description: 'price versions that begin later' }),
  ),
  maxOutputTokens: Type.Optional(Type.Integer()),
  contextTokens: Type.Optional(Type.Integer()),
  maxImages: Type.Optional(Type.Integer()),
  displayName: Type.Optional(Type.String()),
  ownedBy: Type.String(),
  onDisconnect: Type.String(),
  continuation: Type.Optional(Type.String()),
  createdAt: Time,
  targets: Type.Array(Target),
  strategy: Type.Optional(Type.String()),
  retries: Type.Optional(Type.Integer()),
  affinity: Type.Optional(Type.String()),
  firstTokenMs: Type.Optional(Type.Integer()),
  hedge: Type.Optional(Type.String()),
  capture: Type.Optional(Type.String()),
});

const Removed = Type.Object({ name: Type.String(), removed: Type.Literal(true) });

const File = Type.Object(
  { providers: Type.Optional(Type.Unknown()), models: Type.Optional(Type.Unknown()) },
  { additionalProperties: false, description: 'the content of a modelport.yaml' },
);

const FileQuery = Type.Object({
  file: Type.Optional(
    Type.String({
      maxLength: 200,
      // No path, and no control characters that could affect a log or terminal.
      pattern: '^[^\\x00-\\x1f\\x7f/\\\\]+$',
      description: "the file's name without its folder, for the audit log",
    }),
  ),
});

const Names = Type.Array(Type.String());
const Applied = Type.Object({
  providers: Type.Object({ added: Names, changed: Names }),
  models: Type.Object({ added: Names, changed: Names, repriced: Names }),
  messages: Type.Array(
    Type.Object({
      level: Type.String({ description: 'info, or warn if it reverted what another file had set' }),
      message: Type.String(),
    }),
  ),
});

export const CATALOG_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/providers', {
    gate: 'admin',
    permission: 'supply:read',
    summary: 'Lists the providers. Credentials are shown by their last four characters.',
    query: Type.Object(PAGE),
    reply: listOf(Provider),
    answer: async ({ store }, { query }) => pageOf(query, pagesOf(await store.providers()), nameOf, writeProvider),
  }),
  ...saving('/admin/v1/providers', 'a provider', Provider, async (deps, name, entry, actor) => {
    await applyEntry(deps, 'providers', entry, actor);
    return writeProvider(named(await deps.store.providers(), name, 'provider'));
  }),
  route('DELETE', '/admin/v1/providers/:name', {
    gate: 'admin',
    permission: 'supply:write',
    summary: 'Removes a provider that is not the target of any model.',
    reply: Removed,
    answer: removeProvider,
  }),
  route('GET', '/admin/v1/models', {
    gate: 'admin',
    permission: 'supply:read',
    summary: 'Lists the models with their prices and targets.',
    query: Type.Object(PAGE),
    reply: listOf(Model),
    answer: async ({ store, now }, { query }) => {
      const models = await Promise.all((await store.models()).map((model) => priced(store, model, now())));
      return pageOf(query, pagesOf(models), nameOf, writeModel);
    },
  }),
  ...saving('/admin/v1/models', 'a model', Model, async (deps, name, entry, actor) => {
    await applyEntry(deps, 'models', entry, actor);
    return writeModel(await priced(deps.store, named(await deps.store.models(), name, 'model'), deps.now()));
  }),
  route('DELETE', '/admin/v1/models/:name{.+}', {
    gate: 'admin',
    permission: 'supply:write',
    summary: 'Removes a model; its prices and calls are kept.',
    reply: Removed,
    answer: async (deps, { path, caller }) => {
      const models = await deps.store.models();
      const { name } = named(models, path.name, 'model');
      const user = models.find(({ fallbacks }) => fallbacks?.some(({ model }) => model === name));
      if (user) {
        throw new GatewayError('conflict', `The model "${user.name}" falls back to "${name}": change that first.`);
      }
      await deps.store.removeModel(name, audited(deps, caller, 'model.removed', name));
      await deps.catalog.reload();
      return { name, removed: true };
    },
  }),
  route('POST', '/admin/v1/apply', {
    gate: 'admin',
    permission: 'supply:write',
    summary:
      'Adds or changes providers and models in the form of modelport.yaml. Everything is checked before anything is changed; entries that are not named stay. Returns the changes.',
    query: FileQuery,
    body: File,
    reply: Applied,
    answer: async (deps, { query, body, caller }) => {
      const { changes, events } = await deps.applyFile(body, query.file ?? 'modelport.yaml', caller.key);
      await deps.catalog.reload();
      const messages = events.map(({ isWarning, message }) => ({ level: isWarning ? 'warn' : 'info', message }));
      return { ...changes, messages };
    },
  }),
  route('GET', '/admin/v1/prices', {
    gate: 'admin',
    permission: 'supply:read',
    summary: 'Lists price versions, including those of past calls.',
    query: Type.Object({ ...PAGE, model: Type.Optional(Type.String()) }),
    reply: listOf(PriceVersion),
    answer: ({ store }, { query }) =>
      pageOf(
        query,
        (page) => store.prices({ ...page, ...(query.model !== undefined && { model: query.model }) }),
        (price) => price.id,
        writePriceVersion,
      ),
  }),
];

/** POST names the entry in the body, PUT in the path. */
function saving(
  path: string,
  what: string,
  reply: TSchema,
  save: (deps: HttpDeps, name: string, entry: WrittenEntry, actor: string) => Promise<object>,
): AnsweredRoute[] {
  const answer = async (
    deps: HttpDeps,
    { path: { name: inPath }, body, caller }: RouteRequest<unknown, WrittenEntry>,
  ) => {
    const name = inPath ?? body.name;
    if (name === undefined) throw new GatewayError('invalid_request', '"name" is missing.', { param: 'name' });
    if (body.name !== undefined && body.name !== name) {
      throw new GatewayError('invalid_request', `"name" must be "${name}", as in the path.`, { param: 'name' });
    }
    const saved = await save(deps, name, { ...body, name }, caller.key);
    await deps.catalog.reload();
    return saved;
  };
  const summary = `Adds ${what}, or changes the one of that name, in the form of modelport.yaml.`;
  const row = (method: Method, at: string) =>
    route(method, at, { gate: 'admin', permission: 'supply:write', summary, body: WrittenEntry, reply, answer });
  return [row('POST', path), row('PUT', `${path}/:name{.+}`)];
}

/** Errors name members from the top of the file (`models[0].price`); here the entry itself is the top. */
async function applyEntry(
  deps: HttpDeps,
  list: 'providers' | 'models',
  entry: WrittenEntry,
  actor: string,
): Promise<void> {
  try {
    await deps.apply({ [list]: [entry] }, actor);
  } catch (thrown) {
    const top = `${list}[0].`;
    if (!(thrown instanceof GatewayError) || !thrown.param?.startsWith(top)) throw thrown;
    throw new GatewayError(thrown.code, thrown.message.replaceAll(top, ''), { param: thrown.param.slice(top.length) });
  }
}

async function removeProvider(deps: HttpDeps, { path, caller }: RouteRequest): Promise<object> {
  const { name } = named(await deps.store.providers(), path.name, 'provider');
  const user = (await deps.store.models()).find(({ targets }) => targets.some(({ provider }) => provider === name));
  if (user) {
    throw new GatewayError('conflict', `The model "${user.name}" has a target at "${name}": change the model first.`);
  }
  await deps.store.removeProvider(name, audited(deps, caller, 'provider.removed', name));
  await deps.catalog.reload();
  return { name, removed: true };
}

/** Pages through a list that is already in memory. */
function pagesOf<Row extends { name: string }>(rows: Row[]) {
  return ({ limit, after }: { limit: number; after?: string }) => {
    const rest = after === undefined ? rows : rows.filter((row) => row.name > after);
    return Promise.resolve(rest.slice(0, limit));
  };
}

const nameOf = (row: { name: string }): string => row.name;

function named<Row extends { name: string }>(rows: Row[], name: string | undefined, what: string): Row {
  const row = rows.find((one) => one.name === name);
  if (row) return row;
  throw new GatewayError('not_found', `There is no ${what} "${name}".`, { param: 'name' });
}

function writeProvider({ credentials, settings, ...provider }: ProviderRow): object {
  const shown = Object.entries(settings).map(([name, value]) => [
    name,
    SECRET_SETTING.test(name) ? lastFour(value) : value,
  ]);
  return { ...provider, credentials: credentials.map(lastFour), settings: Object.fromEntries(shown) };
}

/** With the price version in use, and those that begin later. */
async function priced(store: Store, model: ModelRow, now: number) {
  const priceId = priceIdAt(model, now);
  const later = model.scheduled?.filter(({ from }) => from > now) ?? [];
  return { ...model, priceId, scheduled: later, version: await store.price(priceId) };
}

function writeModel({ createdAt, version, targets, scheduled, ...model }: Awaited<ReturnType<typeof priced>>): object {
  return {
    ...model,
    price: version && writePrice(version),
    ...(scheduled.length > 0 && { scheduled: writeScheduled(scheduled) }),
    createdAt: writeTime(createdAt),
    targets: targets.map(({ cost, ...target }) => ({
      ...target,
      ...(cost !== undefined && { cost: writePeoplesPrice(readComponents(cost)) }),
    })),
  };
}
