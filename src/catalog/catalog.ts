/** The catalogue in memory: models, prices, targets, and the routing among them. */
import type { Kind } from '../canonical/call.ts';
import type { CaptureMode } from '../canonical/capture-mode.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Price } from '../canonical/price.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import { isTargetFailure, type ProbeLease } from '../routing/health.ts';
import type { Capabilities, DataPolicy, InputKind } from '../routing/needs.ts';
import type { Strategy } from '../routing/order.ts';
import type { RoutedModel, RoutedTarget } from '../routing/routed.ts';
import { createRouting, type Routing } from '../routing/routing.ts';
import type { FallbackRow, ModelRow, ProviderRow, ScheduledPrice, TargetRow } from '../store/catalog-rows.ts';
import type { Store } from '../store/store.ts';
import { ModelNames, targetModelFor } from './names.ts';
import type { LaterPrice } from './offer.ts';
import { readComponents } from './price-text.ts';

interface Fallback extends FallbackRow {
  /** What a caller called it, and its key may be limited to: an alias, for instance. */
  asked?: string;
}

/** If a wildcard matched, its name is the requested one. */
export interface Model extends RoutedModel<ModelTarget> {
  aliases?: readonly string[];
  /** The name of the model as it is configured, where that is a wildcard. */
  wildcard?: string;
  /** Models that answer where this one cannot, in order. */
  fallbacks?: readonly Fallback[];
  kind: Kind;
  /** At list price; `offered` gives the price of a call. */
  price: Price;
  priceId: string;
  scheduled?: readonly LaterPrice[];
  /** The assumed output limit for calls that set none. */
  maxOutputTokens: number;
  contextTokens: number | undefined;
  /** The maximum of images per call. Absent: the general maximum. */
  maxImages: number | undefined;
  displayName: string;
  ownedBy: string;
  createdAt: number;
  onDisconnect: 'abort' | 'drain';
  /** A stream is sent when it is complete, or continued by another target; absent: as it comes. */
  continuation?: 'buffer' | 'prefill';
  /** What is stored of its calls; absent: nothing. */
  capture?: CaptureMode;
}

/** A target as the catalog knows it; the gateway completes it with the provider's row. Its `id` is `provider/model`. */
export interface ModelTarget extends RoutedTarget {
  type: string;
  model: string;
  /** Absent: the provider's default. */
  baseUrl?: string;
  settings: { readonly [name: string]: string };
  /** What a call costs the operator there; absent: as much as at the others. */
  cost?: Price;
}

/** The models and providers of the database, kept in memory. It never calls a provider. */
export interface Catalog {
  /** Letter case matters. `undefined` if there is no such model. */
  find(name: string): Model | undefined;
  /** Every model that is configured; a wildcard as it is written. */
  list(): readonly Model[];
  /** Which targets calls go to, and what is known of them. */
  readonly routing: Routing<ModelTarget>;
  /** Of tasks: the targets in the order to try them. Throws as `routing.route` does. */
  order(model: Model, random: () => number): readonly ModelTarget[];
  /** One of the target's credentials, in turn; those that were refused or limited lately are left out where there are others. */
  credential(target: ModelTarget): string | undefined;
  /** A task has started at the target. */
  succeeded(target: ModelTarget, credential?: string): void;
  /** A task failed at the target with the last of the credentials it has tried. Returns the one to try next; `undefined`: none. */
  another(target: ModelTarget, tried: readonly (string | undefined)[], error: GatewayError): string | undefined;
  /** Reads models, prices and providers anew. */
  reload(): Promise<void>;
}

/** What this process knows of a provider type. Keys from the environment stay here and never enter the database. */
export interface ProviderDefaults {
  /** The base URL of providers of this type without one of their own. */
  baseUrl?: string;
  /** The same, if the provider's settings determine it. */
  addressOf?(settings: ProviderRow['settings']): string | undefined;
  /** Used if the provider has no credential. */
  credential?: string;
  /** A setting that replaces the credential. */
  credentialSetting?: string;
  /** Defaults for the provider's settings. */
  settings?: ProviderRow['settings'];
  /** `true`: without a credential the provider is not called. */
  needsCredential?: boolean;
  /** Callers can request failures, so a failure does not predict the next call and has no effect on health. */
  failsOnRequest?: boolean;
  /** Providers of this type are used only while no other can be called. */
  onlyAlone?: boolean;
}

export interface CatalogOptions {
  store: Store;
  /** By provider type. If given, providers of other types (such as a disabled sandbox) and providers without a base URL are not called. */
  providerDefaults?: { readonly [type: string]: ProviderDefaults };
  /** A credential (by its position in the provider's list, from 1) was refused and is not used for some time. */
  credentialRefused?(provider: string, place: number, seconds: number): void;
  /** A target or a credential goes into cooldown, or comes out of it. */
  cooldown?(change: CooldownChange): void;
  /** Decides over all processes who may probe a target; absent: each for itself. */
  probeLease?: ProbeLease | undefined;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** The assumed output limit for models without one: enough for long answers, and small compared with a starting credit. */
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;

/**
 * The catalog over this store; empty until the first `reload`. A model none of whose targets may be called is not available.
 *
 * @example
 * const catalog = createCatalog({ store });
 * await catalog.reload();
 * const model = catalog.find('gpt-5');
 */
export function createCatalog(options: CatalogOptions): Catalog {
  const { store, providerDefaults, credentialRefused, cooldown, probeLease, now } = options;
  let models = new ModelNames<Model>([]);
  /** Models that a wildcard matched lately, by the requested name. */
  const matched = new Map<string, Model>();
  let list: readonly Model[] = [];
  /** Price versions never change, so each is read once. */
  const prices = new Map<string, Price>();
  const routing = createRouting<ModelTarget>({ credentialRefused, cooldown, lease: probeLease, now });
  const { state } = routing;

  async function price(id: string): Promise<Price> {
    const known = prices.get(id);
    if (known) return known;
    const row = await store.price(id);
    if (!row) throw new Error(`the price ${id} is not in the database`);
    const read = readComponents(row.components);
    prices.set(id, read);
    return read;
  }

  const later = async ({ priceId, from }: ScheduledPrice): Promise<LaterPrice> => ({
    from,
    priceId,
    price: await price(priceId),
  });

  return {
    find(name) {
      const known = models.exact(name) ?? matched.get(name);
      if (known) return known;
      const found = models.find(name);
      if (found?.rest === undefined) return found?.model;
      const model = matchedModel(found.model, name, found.rest);
      if (matched.size >= MATCHED_REMEMBERED) matched.clear();
      matched.set(name, model);
      return model;
    },
    list: () => list,

    routing,

    order: (model, random) => routing.route(model, { account: '', tokens: 0, random }).targets,

    credential: (target) => state.credentials.choose(target, state.now()),

    succeeded(target, credential) {
      if (target.failsOnRequest) return;
      state.credentials.succeeded(target, credential, state.now());
      state.health(target).succeeded(state.now(), true);
    },

    another(target, tried, error) {
      if (target.failsOnRequest) return undefined;
      if (isTargetFailure(error)) state.health(target).failed(state.now(), true);
      if (!state.credentials.failed(target, tried.at(-1), error, state.now())) return undefined;
      return state.credentials.choose(target, state.now(), tried);
    },

    async reload() {
      const [rows, providerRows] = await Promise.all([store.models(), store.providers()]);
      const providers = callable(providerRows, providerDefaults);
      const read = await Promise.all(
        rows.map(async (row) => {
          const model = readModel(row, await price(row.priceId), providers, providerDefaults);
          if (row.scheduled) model.scheduled = await Promise.all(row.scheduled.map(later));
          return model;
        }),
      );
      list = read.filter((model) => model.targets.length > 0);
      models = new ModelNames(list);
      matched.clear();
      state.keepOnly(list);
    },
  };
}

/** Callers make names up: so many are remembered. */
const MATCHED_REMEMBERED = 1000;

/** The model that this name means. Health is kept for the wildcard's target as a whole: callers could name any number of models. */
function matchedModel(model: Model, name: string, rest: string): Model {
  const targets = model.targets.map((target) => ({ ...target, model: targetModelFor(target, name, rest) }));
  const onlyRoute = model.onlyRoute && { targets, ready: 1 };
  return { ...model, name, displayName: name, wildcard: model.name, targets, onlyRoute };
}

/** Providers that can be called, by name, completed by the defaults of their types. */
function callable(
  rows: readonly ProviderRow[],
  defaults: CatalogOptions['providerDefaults'],
): Map<string, ProviderRow> {
  const providers = new Map<string, ProviderRow>();
  for (const row of rows) {
    const known = defaults ? defaults[row.type] : {};
    if (!known) continue;
    const settings = { ...known.settings, ...row.settings };
    const hasOwn = row.credentials.length > 0 || settings[known.credentialSetting ?? ''] !== undefined;
    const credentials = !hasOwn && known.credential ? [known.credential] : row.credentials;
    if (known.needsCredential && !hasOwn && credentials.length === 0) continue;
    const baseUrl = row.baseUrl ?? known.baseUrl ?? known.addressOf?.(settings);
    if (defaults && !baseUrl) continue;
    providers.set(row.name, { ...row, credentials, settings, ...(baseUrl && { baseUrl }) });
  }
  return withoutStandIns(providers, defaults);
}

/** Removes stand-in providers if there are others. */
function withoutStandIns(
  providers: Map<string, ProviderRow>,
  defaults: CatalogOptions['providerDefaults'],
): Map<string, ProviderRow> {
  const standsIn = ({ type }: ProviderRow) => defaults?.[type]?.onlyAlone === true;
  const all = [...providers];
  return all.every(([, row]) => standsIn(row)) ? providers : new Map(all.filter(([, row]) => !standsIn(row)));
}

function readModel(
  row: ModelRow,
  price: Price,
  providers: ReadonlyMap<string, ProviderRow>,
  defaults: CatalogOptions['providerDefaults'],
): Model {
  const targets = row.targets
    .flatMap((target) => {
      const provider = providers.get(target.provider);
      return provider ? readTarget(target, provider, defaults?.[provider.type]?.failsOnRequest === true) : [];
    })
    .sort((a, b) => a.priority - b.priority);
  const [only, second] = targets;
  return {
    name: row.name,
    ...(row.aliases && { aliases: row.aliases }),
    ...(row.fallbacks && { fallbacks: row.fallbacks }),
    kind: row.kind as Kind,
    price,
    priceId: row.priceId,
    maxOutputTokens: row.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    contextTokens: row.contextTokens,
    maxImages: row.maxImages,
    displayName: row.displayName ?? row.name,
    ownedBy: row.ownedBy,
    createdAt: row.createdAt,
    onDisconnect: row.onDisconnect,
    ...(row.continuation && { continuation: row.continuation }),
    ...(row.capture && { capture: row.capture }),
    strategy: (row.strategy as Strategy | undefined) ?? 'weighted',
    retries: row.retries,
    affinity: row.affinity !== 'off',
    firstTokenMs: row.firstTokenMs,
    hedge: row.hedge === 'on',
    targets,
    onlyRoute: only && !second && !only.capabilities ? { targets, ready: 1 } : undefined,
  };
}

function readTarget(row: TargetRow, provider: ProviderRow, failsOnRequest: boolean): ModelTarget {
  const { type, baseUrl, credentials, settings, concurrency, tokensPerMinute, queueMs } = provider;
  const isLimited = concurrency !== undefined || tokensPerMinute !== undefined;
  const capabilities = capabilitiesOf(row);
  return {
    id: `${provider.name}/${row.model}`,
    provider: provider.name,
    type,
    model: row.model,
    ...(baseUrl && { baseUrl }),
    credentials,
    settings,
    priority: row.priority,
    weight: row.weight,
    ...(row.cost !== undefined && { cost: readComponents(row.cost) }),
    ...(capabilities && { capabilities }),
    ...(isLimited && { limits: { concurrency, tokensPerMinute, queueMs } }),
    ...(failsOnRequest && { failsOnRequest }),
  };
}

/** `undefined` if the row has no value. */
function capabilitiesOf(row: TargetRow): Capabilities | undefined {
  const { inputs, tools, structuredOutput, contextTokens, dataPolicy } = row;
  const capabilities: Capabilities = {
    ...(inputs && { inputs: inputs as InputKind[] }),
    ...(tools !== undefined && { tools }),
    ...(structuredOutput !== undefined && { structuredOutput }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(dataPolicy !== undefined && { dataPolicy: dataPolicy as DataPolicy }),
  };
  return Object.keys(capabilities).length === 0 ? undefined : capabilities;
}
