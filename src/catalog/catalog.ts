/** The catalogue in memory: models, prices, targets, their order, and their health. */
import type { Kind } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Price } from '../canonical/price.ts';
import { createCredentials } from '../routing/credentials.ts';
import { createHealth, type Observation, type Rest } from '../routing/health.ts';
import { weightedOrder } from '../routing/order.ts';
import type { FallbackRow, ModelRow, ProviderRow, Store } from '../store/store.ts';
import { ModelNames, targetModelFor } from './names.ts';
import { readComponents } from './price-text.ts';

export interface Model {
  /** Of one that a wildcard matched: the name that was asked for. */
  name: string;
  aliases?: readonly string[];
  /** The name of the model as it is configured, where that is a wildcard. */
  wildcard?: string;
  /** Models that answer where this one cannot, in order. */
  fallbacks?: readonly FallbackRow[];
  kind: Kind;
  price: Price;
  priceId: string;
  /** The assumed output limit for calls that set none. */
  maxOutputTokens: number;
  contextTokens: number | undefined;
  /** The maximum of images per call. Absent: the general maximum. */
  maxImages: number | undefined;
  displayName: string;
  ownedBy: string;
  createdAt: number;
  onDisconnect: 'abort' | 'drain';
  /** A stream is sent when it is complete; absent: as it comes. */
  continuation?: 'buffer';
  /** By priority; never empty. */
  targets: readonly ModelTarget[];
}

/** A target in the catalogue. The gateway adds the provider's row. */
export interface ModelTarget {
  /** A stable name for health: `provider/model`. */
  id: string;
  provider: string;
  type: string;
  model: string;
  /** Absent: the provider's default. */
  baseUrl?: string;
  credentials: readonly string[];
  settings: { readonly [name: string]: string };
  /** Lower is tried first. */
  priority: number;
  weight: number;
}

export interface Catalog {
  /** Letter case matters. `undefined` if there is no such model. */
  find(name: string): Model | undefined;
  /** Every model that is configured; a wildcard as it is written. */
  list(): readonly Model[];
  /**
   * The targets in the order to try them: by priority, and randomly by weight within a priority. Each occurs once; those in cooldown are
   * left out. If all are in cooldown, throws `upstream_unavailable` (or `rate_limited` after rate limits) with `retry-after`.
   */
  order(model: Model, random: () => number, now: number): readonly ModelTarget[];
  observe(target: ModelTarget, seen: Observation, now: number, credential?: string): void;
  /** One of the target's credentials, in turn. Credentials that were refused or rate limited recently are left out if there are others. */
  credential(target: ModelTarget, now: number): string | undefined;
  /**
   * Reports that the call failed at the target with the last credential in the list. Returns the credential to try next. `undefined`: the
   * target itself failed, and its health was updated.
   */
  another(
    target: ModelTarget,
    tried: readonly (string | undefined)[],
    error: GatewayError,
    now: number,
  ): string | undefined;
  /** Reads models, prices and providers again. */
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
}

/** The assumed output limit for models without one: enough for long answers, and small compared with a starting credit. */
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;

/** The catalogue of this store; empty until the first `reload`. A model is not available if none of its targets can be called. */
export function createCatalog({ store, providerDefaults, credentialRefused }: CatalogOptions): Catalog {
  let models = new ModelNames<Model>([]);
  /** Models that a wildcard matched lately, by the name that was asked for. */
  const matched = new Map<string, Model>();
  let list: readonly Model[] = [];
  /** Price versions never change, so each is read once. */
  const prices = new Map<string, Price>();
  const health = createHealth();
  const credentials = createCredentials({ ...(credentialRefused && { refused: credentialRefused }) });

  const restOf = (target: ModelTarget, now: number) => health.rest(target.id, now) ?? credentials.rest(target, now);

  function observe(target: ModelTarget, seen: Observation, now: number, credential?: string): void {
    if (providerDefaults?.[target.type]?.failsOnRequest) return;
    if (credential !== undefined && seen.ok) credentials.succeeded(target, credential, now);
    health.observe(target.id, seen, now);
  }

  async function price(id: string): Promise<Price> {
    const known = prices.get(id);
    if (known) return known;
    const row = await store.price(id);
    if (!row) throw new Error(`the price ${id} is not in the database`);
    const read = readComponents(row.components);
    prices.set(id, read);
    return read;
  }

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

    order(model, random, now) {
      const [only] = model.targets;
      if (only && model.targets.length === 1 && !restOf(only, now)) return model.targets;
      const ready: ModelTarget[] = [];
      const rests: Rest[] = [];
      for (const target of model.targets) {
        const rest = restOf(target, now);
        if (rest) rests.push(rest);
        else ready.push(target);
      }
      if (ready.length === 0) throw allRest(model, rests, now);
      return ready.length === 1 ? ready : weightedOrder(ready, random);
    },

    observe,

    credential: (target, now) => credentials.choose(target, now),

    another(target, tried, error, now) {
      const used = tried.filter((credential) => credential !== undefined);
      const last = used.at(-1);
      const isItsFault = last !== undefined && credentials.failed(target, last, error, now);
      const next = isItsFault ? credentials.choose(target, now, used) : undefined;
      // If every credential is rate limited, the target cools down until the first of them is available.
      if (next === undefined && !(isItsFault && error.code === 'rate_limited'))
        observe(target, { ok: false, error }, now);
      return next;
    },

    async reload() {
      const [rows, providerRows] = await Promise.all([store.models(), store.providers()]);
      const providers = callable(providerRows, providerDefaults);
      const read = await Promise.all(rows.map(async (row) => readModel(row, await price(row.priceId), providers)));
      list = read.filter((model) => model.targets.length > 0);
      models = new ModelNames(list);
      matched.clear();
      const targets = list.flatMap((model) => model.targets);
      health.keepOnly(new Set(targets.map((target) => target.id)));
      credentials.keepOnly(targets);
    },
  };
}

/** Callers make names up: so many are remembered. */
const MATCHED_REMEMBERED = 1000;

/** The model that this name means. Health is kept for the wildcard's target as a whole: callers could name any number of models. */
function matchedModel(model: Model, name: string, rest: string): Model {
  const targets = model.targets.map((target) => ({ ...target, model: targetModelFor(target, name, rest) }));
  return { ...model, name, displayName: name, wildcard: model.name, targets };
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

function readModel(row: ModelRow, price: Price, providers: ReadonlyMap<string, ProviderRow>): Model {
  const targets: ModelTarget[] = [];
  for (const { provider: name, model, priority, weight } of row.targets) {
    const provider = providers.get(name);
    if (!provider) continue;
    const { type, baseUrl, credentials, settings } = provider;
    const id = `${name}/${model}`;
    targets.push({
      id,
      provider: name,
      type,
      model,
      ...(baseUrl && { baseUrl }),
      credentials,
      settings,
      priority,
      weight,
    });
  }
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
    targets: targets.sort((a, b) => a.priority - b.priority),
  };
}

function allRest(model: Model, rests: readonly Rest[], now: number): GatewayError {
  const soonest = Math.min(...rests.map((rest) => rest.until));
  const retryAfterSeconds = Math.max(1, Math.ceil((soonest - now) / 1000));
  const again = `Please try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? 'second' : 'seconds'}.`;
  if (rests.every((rest) => rest.limited)) {
    const message = `Every upstream of the model "${model.name}" has reached its rate limit. ${again}`;
    return new GatewayError('rate_limited', message, { retryAfterSeconds });
  }
  const message = `No upstream of the model "${model.name}" is available after failures in a row. ${again}`;
  return new GatewayError('upstream_unavailable', message, { retryAfterSeconds });
}
