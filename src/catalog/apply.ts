/** Applies a catalogue form to the database: providers, models, and a new price version if a price changed. */
import { newId } from '../canonical/id.ts';
import type { ModelRow } from '../store/catalog-rows.ts';
import type { Audit } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { ProviderDefaults } from './catalog.ts';
import { type CatalogueForm, type ModelEntry, type ProviderEntry, readCatalogue, refuse } from './catalogue.ts';
import { refuseWrongNames } from './name-rules.ts';
import { priceIdAt, withPriceId } from './offer.ts';
import { writeComponents } from './price-text.ts';
import { withSecrets } from './stored-secrets.ts';

/** All are optional. */
export interface ApplyOptions {
  /** The known provider types. Absent: not checked. */
  types?: readonly string[];
  /** What happens to the upstream call when the client disconnects, for models that do not say. */
  onDisconnect?: ModelRow['onDisconnect'];
  /** Keeps existing providers and models: list prices never overwrite an operator's own. */
  keepExisting?: boolean;
  /** For a change by somebody who may not read the stored secrets: the defaults of the provider types. */
  guarded?: { readonly [type: string]: ProviderDefaults };
  /** Makes the audit row of each added or changed provider and model. */
  audit?: (what: 'provider' | 'model', name: string, price?: PriceChange) => Audit<object>;
}

/** Stored components of a model's price. Without `before` the model is new. */
export interface PriceChange {
  before?: string | undefined;
  after: string;
}

/** Names of what changed; unchanged entries are in none of the lists. */
export interface CatalogueChanges {
  providers: { added: string[]; changed: string[] };
  /** A `repriced` model has a new price version; it may also be in `changed`. */
  models: { added: string[]; changed: string[]; repriced: string[] };
}

/** What a file has changed, and messages about it. */
export interface AppliedFile {
  changes: CatalogueChanges;
  events: readonly FileEvent[];
}

/** A change made by a file, `old -> new`; a warning if it reverted what another file had set. */
export interface FileEvent {
  isWarning: boolean;
  /** A sentence. */
  message: string;
  members: { readonly [name: string]: string };
}

/**
 * Applies a form. Everything is validated before anything is written; a fault is a GatewayError `invalid_request`. Entries that the form
 * does not name stay; they are removed by name.
 */
export async function applyCatalogue(
  store: Store,
  form: CatalogueForm,
  now: number,
  options: ApplyOptions = {},
): Promise<CatalogueChanges> {
  const catalogue = readCatalogue(form);
  const [providerRows, modelRows] = await Promise.all([store.providers(), store.models()]);
  const providers = new Map(providerRows.map((row) => [row.name, row]));
  const models = new Map(modelRows.map((row) => [row.name, row]));
  refuseUnknownTypes(catalogue.providers, options.types);
  refuseUnknownProviders(
    catalogue.models,
    new Set([...providers.keys(), ...catalogue.providers.map(({ name }) => name)]),
  );

  refuseWrongNames(catalogue.models, modelRows);

  const changes: CatalogueChanges = {
    providers: { added: [], changed: [] },
    models: { added: [], changed: [], repriced: [] },
  };
  const { guarded } = options;
  const saved = catalogue.providers.map((entry, i) =>
    withSecrets(entry, providers.get(entry.name), `providers[${i}]`, guarded && (guarded[entry.type] ?? {})),
  );
  for (const provider of saved) {
    const before = providers.get(provider.name);
    if (before && (options.keepExisting || Bun.deepEquals(before, provider))) continue;
    await store.saveProvider(provider, options.audit?.('provider', provider.name));
    changes.providers[before ? 'changed' : 'added'].push(provider.name);
  }
  for (const entry of catalogue.models) {
    const before = models.get(entry.name);
    if (before && options.keepExisting) continue;
    await applyModel(entry, before);
  }
  return changes;

  async function applyModel(entry: ModelEntry, before: ModelRow | undefined): Promise<void> {
    const { price, ...written } = entry;
    const components = writeComponents(price);
    const current = before && priceIdAt(before, now);
    const version = current === undefined ? undefined : await store.price(current);
    const repriced = version?.components !== components;
    const priceId = before && !repriced ? before.priceId : newId('price_');
    const { scheduled } = (before && (repriced ? withPriceId(before, priceId, now) : before)) ?? {};
    const row: ModelRow = {
      ...written,
      priceId,
      ...(scheduled && { scheduled }),
      ownedBy: written.ownedBy ?? ownerOf(entry),
      onDisconnect: written.onDisconnect ?? options.onDisconnect ?? 'abort',
      createdAt: before?.createdAt ?? now,
    };
    if (repriced) await store.savePrice({ id: priceId, model: entry.name, components, createdAt: now });
    if (!before) changes.models.added.push(entry.name);
    else if (repriced) changes.models.repriced.push(entry.name);
    if (before && Bun.deepEquals(before, row)) return;
    await store.changeModels([
      {
        name: row.name,
        // Prices that were scheduled, adopted or cancelled since the rows were read stay so.
        change: (stored) => (stored && before ? withPricesOf(stored, row, repriced, now) : row),
        audit: options.audit?.('model', row.name, { before: version?.components, after: components }),
      },
    ]);
    if (before && !Bun.deepEquals({ ...before, priceId, scheduled }, row)) changes.models.changed.push(entry.name);
  }

  /** The default owner of a model: the type of its first target's provider. */
  function ownerOf({ targets: [first] }: ModelEntry): string {
    const name = first?.provider ?? '';
    const provider = catalogue.providers.find((written) => written.name === name) ?? providers.get(name);
    return provider?.type ?? 'modelport';
  }
}

/** The row with the prices that are stored, and its own from now on if it has a new one. */
function withPricesOf(stored: ModelRow, row: ModelRow, repriced: boolean, now: number): ModelRow {
  const { priceId, scheduled } = repriced ? withPriceId(stored, row.priceId, now) : stored;
  const { scheduled: _, ...rest } = row;
  return { ...rest, priceId, ...(scheduled && { scheduled }) };
}

function refuseUnknownTypes(providers: readonly ProviderEntry[], types: readonly string[] | undefined): void {
  if (!types) return;
  for (const [i, { type }] of providers.entries()) {
    if (types.includes(type)) continue;
    refuse(`providers[${i}].type`, `providers[${i}].type must be one of ${types.join(', ')}`);
  }
}

function refuseUnknownProviders(models: readonly ModelEntry[], names: ReadonlySet<string>): void {
  for (const [i, { targets }] of models.entries()) {
    for (const [j, { provider }] of targets.entries()) {
      if (names.has(provider)) continue;
      const param = `models[${i}].targets[${j}].provider`;
      refuse(param, `${param} must name a configured provider: "${provider}" is not configured`);
    }
  }
}
