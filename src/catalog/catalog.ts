/** What is available: models, prices, targets, in which order to try them, who failed lately. */
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
  /** The ceiling of a quote where the call names none. */
  maxOutputTokens: number;
  contextTokens: number | undefined;
  /** Images a call may ask for; absent: as everywhere. */
  maxImages: number | undefined;
  displayName: string;
  ownedBy: string;
  createdAt: number;
  onDisconnect: 'abort' | 'drain';
  /** By priority; never empty. */
  targets: readonly ModelTarget[];
}

/** A target as the catalog knows it; the gateway completes it with the provider's row. */
export interface ModelTarget {
  /** Stable name of the pair, for health: `provider/model`. */
  id: string;
  provider: string;
  type: string;
  model: string;
  /** Absent: the provider's own. */
  baseUrl?: string;
  credentials: readonly string[];
  settings: { readonly [name: string]: string };
  /** Lower is tried earlier. */
  priority: number;
  weight: number;
}

export interface Catalog {
  /** By its own name, an alias, or the longest wildcard, in this order. Letter case counts; `undefined` where there is no such model. */
  find(name: string): Model | undefined;
  /** Every model that is configured; a wildcard as it is written. */
  list(): readonly Model[];
  /** The targets in the order to try them: by priority, within one by weight at random, none twice, resting ones left out.
   *  Throws `upstream_unavailable` (or `rate_limited`, where the providers said so) with `retry-after` when all rest. */
  order(model: Model, random: () => number, now: number): readonly ModelTarget[];
  observe(target: ModelTarget, seen: Observation, now: number, credential?: string): void;
  /** One of the target's credentials, in turn; those that were refused or limited lately are left out where there are others. */
  credential(target: ModelTarget, now: number): string | undefined;
  /** The call failed at the target with the last of the credentials it has tried. Returns the one to try next; `undefined`: the
   *  target itself has failed, and that has been observed. */
  another(
    target: ModelTarget,
    tried: readonly (string | undefined)[],
    error: GatewayError,
    now: number,
  ): string | undefined;
  /** Reads models, prices and providers anew. */
  reload(): Promise<void>;
}

/** What this process knows of a provider type. Keys from the environment stay here: they never enter the database. */
export interface ProviderDefaults {
  /** Where providers of this type are when their row names no address. */
  baseUrl?: string;
  /** The same where a row's settings decide it. */
  addressOf?(settings: ProviderRow['settings']): string | undefined;
  /** Used when the row has no credential. */
  credential?: string;
  /** A setting that stands for the credential where the row has it. */
  credentialSetting?: string;
  /** What the row's own settings go before. */
  settings?: ProviderRow['settings'];
  /** `true`: without any credential the provider is not called. */
  needsCredential?: boolean;
  /** Callers make it fail by asking for it: a failure says nothing of the next call, so it has no health. */
  failsOnRequest?: boolean;
  /** Providers of this type are called only while no other may be. */
  onlyAlone?: boolean;
}

export interface CatalogOptions {
  store: Store;
  /** By provider type. Where given, providers of types it does not list (a sandbox switched off …) and providers without
   *  an address are not called. */
  providerDefaults?: { readonly [type: string]: ProviderDefaults };
  /** A credential (its place in the provider's list, from 1) was refused and is not used for a while. */
  credentialRefused?(provider: string, place: number, seconds: number): void;
}

/** The ceiling of a quote for a model whose row names none: enough for long answers, little beside a starting credit. */
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;

/** The catalog over this store; empty until the first `reload`. A model none of whose targets may be called is not available. */
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
      // Where every credential is limited the target waits for the soonest of them.
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

/** The providers that may be called, by name, completed by what this process knows of their types. */
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

/** Those that stand in only while there is no other provider make way for it. */
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
