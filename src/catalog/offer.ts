/** The price that applies to a call: the version that is effective when it is held, times the factor of its account's price group. */

import type { PriceFactor } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { ModelRow } from '../store/catalog-rows.ts';

/** A price version that applies later than the model's own. */
export interface LaterPrice {
  from: number;
  price: Price;
  priceId: string;
}

/** A model with the price in use and the scheduled ones. `from` is milliseconds since 1970. */
export interface Priced {
  price: Price;
  priceId: string;
  /** By increasing `from`; absent: none. */
  scheduled?: readonly LaterPrice[];
}

/** A model by version and factor, so that each call of an account gets the same object. */
const offers = new WeakMap<object, Map<string, unknown>>();

/** The model at the price of a call that starts at `at`. The model itself, if it has one price and the account no price group. */
export function offered<M extends Priced>(model: M, at: number, factor: PriceFactor | undefined): M {
  const version = model.scheduled?.findLast(({ from }) => from <= at) ?? model;
  if (version === model && factor === undefined) return model;
  const priceId = factor === undefined ? version.priceId : `${version.priceId}*${factor.text}`;
  let known = offers.get(model) as Map<string, M> | undefined;
  if (!known) {
    known = new Map();
    offers.set(model, known);
  }
  const found = known.get(priceId);
  if (found) return found;
  const price = factor === undefined ? version.price : { ...version.price, factor: factor.millionths };
  const offer = { ...model, price, priceId };
  known.set(priceId, offer);
  return offer;
}

/** The price version that is effective at this time. */
export function priceIdAt({ priceId, scheduled }: Pick<ModelRow, 'priceId' | 'scheduled'>, at: number): string {
  return scheduled?.findLast(({ from }) => from <= at)?.priceId ?? priceId;
}

/** The row with another version from now on (or from `from` on); earlier versions stay only in the history. */
export function withPriceId(row: ModelRow, priceId: string, now: number, from?: number): ModelRow {
  const { scheduled: old = [], ...rest } = row;
  const later = old.filter((one) => one.from > now && one.from !== from);
  const scheduled = from === undefined ? later : [...later, { priceId, from }].sort((a, b) => a.from - b.from);
  return {
    ...rest,
    priceId: from === undefined ? priceId : priceIdAt(row, now),
    ...(scheduled.length > 0 && { scheduled }),
  };
}
