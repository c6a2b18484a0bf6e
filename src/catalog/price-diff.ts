/** Compares the prices of configured models with a price file. Changes nothing. */
import { hash } from 'node:crypto';
import { GatewayError } from '../canonical/errors.ts';
import type { Price } from '../canonical/price.ts';
import type { ModelRow, ProviderRow, ScheduledPrice } from '../store/catalog-rows.ts';
import { readModelPrice } from './catalogue.ts';
import { listedPrice } from './price-list.ts';
import type { PriceFile } from './price-schema.ts';
import { writeComponents } from './price-text.ts';

/** A configured model, with its effective price. */
export interface PricedModel {
  row: ModelRow;
  priceId: string;
  price: Price;
}

/** A model whose price differs from that of the file. */
export interface PriceDifference {
  model: string;
  /** The type of the provider and its name of the model, by which the row of the file was found. */
  type: string;
  target: string;
  priceId: string;
  before: Price;
  after: Price;
  /** Where the price was read, and the day of it. */
  source: string;
  asOf: string;
  note?: string;
  scheduled?: readonly ScheduledPrice[];
}

/** The prices in use beside those of a price file. */
export interface PriceComparison {
  differences: PriceDifference[];
  /** Models with the price of the file. */
  equal: number;
  /** Models that the file does not have. */
  unlisted: string[];
  /** The latest day of a price in the file. */
  asOf: string;
  /** Of the differences: an adoption names it, so that it adopts what was shown. */
  fingerprint: string;
}

/** Throws `invalid_request` if a price of the file is not valid. */
export function comparePrices(
  models: readonly PricedModel[],
  providers: readonly ProviderRow[],
  file: PriceFile,
): PriceComparison {
  const types = new Map(providers.map(({ name, type }) => [name, type]));
  const listed = new Map(file.models.map((row, i) => [rowName(row.type, row.model, row.kind), { row, i }]));
  const differences: PriceDifference[] = [];
  const unlisted: string[] = [];
  let equal = 0;
  for (const { row, priceId, price } of models) {
    const targets = row.targets.toSorted((a, b) => a.priority - b.priority);
    const found = targets
      .map(({ provider, model }) => listed.get(rowName(types.get(provider) ?? '', model, row.kind)))
      .find((one) => one !== undefined);
    if (!found) {
      unlisted.push(row.name);
      continue;
    }
    const { type, model: target, source, asOf, note } = found.row;
    const path = `models[${found.i}].price`;
    const read = readModelPrice(listedPrice(file, found.row), row.kind as never, target, path);
    // What only an operator sets is in no list.
    const after = { ...read, ...(price.perCacheHit !== undefined && { perCacheHit: price.perCacheHit }) };
    if (writeComponents(after) === writeComponents(price)) {
      equal++;
      continue;
    }
    differences.push({
      model: row.name,
      type,
      target,
      priceId,
      before: price,
      after,
      source,
      asOf,
      ...(note !== undefined && { note }),
      ...(row.scheduled && { scheduled: row.scheduled }),
    });
  }
  const asOf = file.models.reduce((latest, row) => (row.asOf > latest ? row.asOf : latest), '');
  return { differences, equal, unlisted, asOf, fingerprint: fingerprintOf(differences) };
}

const rowName = (type: string, model: string, kind: string) => `${kind} ${type} ${model}`;

function fingerprintOf(differences: readonly PriceDifference[]): string {
  const parts = differences.map(({ model, priceId, after, scheduled }) => [
    model,
    priceId,
    writeComponents(after),
    scheduled,
  ]);
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
}

/** The differences to adopt: those of these models, or all. Throws `invalid_request` for a model without a difference. */
export function chosen({ differences }: PriceComparison, models: readonly string[] | 'all'): PriceDifference[] {
  if (models === 'all') return differences;
  return [...new Set(models)].map((name) => {
    const found = differences.find(({ model }) => model === name);
    if (found) return found;
    const sentence = `The price of the model "${name}" does not differ from the file, or the file does not have it.`;
    throw new GatewayError('invalid_request', sentence, { param: 'models' });
  });
}
