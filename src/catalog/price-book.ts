/** Reads price files, compares them with the prices in use, and adopts what an admin has chosen. Nothing is adopted by itself. */
import type { Kind } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { ModelRow, PriceRow } from '../store/catalog-rows.ts';
import type { Audit } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import { readModelPrice } from './catalogue.ts';
import { priceIdAt, withPriceId } from './offer.ts';
import { chosen, comparePrices, type PriceComparison, type PriceDifference, type PricedModel } from './price-diff.ts';
import { PRICE_LIST } from './price-list.ts';
import type { PriceFile } from './price-schema.ts';
import { readComponents, writeComponents, writePeoplesPrice } from './price-text.ts';

/** The price file of this release. */
const RELEASE_SOURCE = 'release';

/** `release`, an http address, or the content of a file, which is called `file`. */
export interface PriceSource {
  source?: string | undefined;
  prices?: unknown;
}

/** A comparison with the name of its source. */
export interface ComparedPrices extends PriceComparison {
  source: string;
}

/** Which models take their price from the file. `from` is milliseconds since 1970. */
export interface Adoption extends PriceSource {
  models: readonly string[] | 'all';
  /** Of the comparison that was shown. */
  fingerprint: string;
  /** When the prices begin. Absent: now. */
  from?: number | undefined;
}

/** A difference that was adopted, with its new price version. */
export interface AdoptedPrice extends PriceDifference {
  newPriceId: string;
}

/** A price that an admin sets by hand. */
export interface NewPrice {
  model: string;
  /** In the form of modelport.yaml. */
  price: unknown;
  /** The price version that the admin has seen in use. */
  replaces: string;
  /** When the price begins, in milliseconds since 1970. Absent: now. */
  from?: number | undefined;
}

/** Makes the audit row of an adopted price. */
type AuditAdoption = (model: string, before: object, after: object) => Audit<ModelRow>;

/** Compares the prices in use with a price file, adopts them on request, and sets the price of one model. */
export interface PriceBook {
  /** Throws `invalid_request` if the file cannot be read. */
  compare(source: PriceSource): Promise<ComparedPrices>;
  /** Throws `conflict` if prices or file have changed since the comparison with this fingerprint. */
  adopt(adoption: Adoption, audit: AuditAdoption): Promise<AdoptedPrice[]>;
  /**
   * Sets the price of one model; the rest of the model stays. Throws `not_found`, `invalid_request` if the price lacks what a model of this
   * kind is charged by, or `conflict` if another version than `replaces` is in use, or another price begins at the same time.
   */
  set(price: NewPrice, audit: AuditAdoption): Promise<PriceRow>;
  /** Takes back a price version that has not begun. Throws `not_found`, or `conflict` if it has begun. */
  cancel(priceId: string, audit: (model: string, before: object) => Audit<ModelRow>): Promise<void>;
}

interface PriceBookSettings {
  store: Store;
  guard: Pick<GuardedFetch, 'fetch'>;
  now(): number;
}

/** How long a price file is waited for; the guard has a limit of its own. */
const FETCH_MS = 30_000;

/** `guard` fetches price files: it refuses private addresses. */
export function createPriceBook({ store, guard, now }: PriceBookSettings): PriceBook {
  async function compare(asked: PriceSource): Promise<ComparedPrices> {
    const file = await readSource(asked, guard);
    const [rows, providers] = await Promise.all([store.models(), store.providers()]);
    const models: PricedModel[] = [];
    for (const row of rows) {
      const priceId = priceIdAt(row, now());
      const version = await store.price(priceId);
      if (version) models.push({ row, priceId, price: readComponents(version.components) });
    }
    return { ...comparePrices(models, providers, file), source: nameOf(asked) };
  }

  return {
    compare,

    async adopt({ models, fingerprint, from, ...asked }, audit) {
      const at = now();
      refusePast(from, at);
      const compared = await compare(asked);
      if (compared.fingerprint !== fingerprint) throw changedMeanwhile();
      const adopted = chosen(compared, models).map((difference) => ({ ...difference, newPriceId: newId('price_') }));
      // All of them or none, on rows as they are: another admin may change the same models now.
      await store.changeModels(
        adopted.map(({ model, priceId, newPriceId: id, before, after, source, asOf, scheduled }) => {
          const file = `${compared.source} ${asOf}`;
          const was = { priceId, price: writePeoplesPrice(before) };
          const is = { priceId: id, price: writePeoplesPrice(after), file, source, from: new Date(from ?? at) };
          return {
            name: model,
            change(row) {
              const isSame = row && priceIdAt(row, at) === priceId && Bun.deepEquals(row.scheduled, scheduled);
              if (!isSame) throw changedMeanwhile();
              return withPriceId(row, id, at, from);
            },
            price: {
              ...{ id, model, components: writeComponents(after), createdAt: at, source: file },
              ...(from !== undefined && { effectiveAt: from }),
            },
            audit: audit(model, was, is),
          };
        }),
      );
      return adopted;
    },

    async set({ model: name, price: asked, replaces, from }, audit) {
      const at = now();
      refusePast(from, at);
      const unknown = () => new GatewayError('not_found', `There is no model "${name}".`, { param: 'model' });
      const row = (await store.models()).find((one) => one.name === name);
      if (!row) throw unknown();
      const price = readModelPrice(asked, row.kind as Kind, name, 'price');
      const version = await store.price(replaces);
      const components = writeComponents(price);
      const saved: PriceRow = {
        ...{ id: newId('price_'), model: name, components, createdAt: at },
        ...(from !== undefined && { effectiveAt: from }),
      };
      const was = { priceId: replaces, price: version && writePeoplesPrice(readComponents(version.components)) };
      const is = { priceId: saved.id, price: writePeoplesPrice(price), from: new Date(from ?? at) };
      await store.changeModels([
        {
          name,
          change(stored) {
            if (!stored) throw unknown();
            if (from !== undefined && stored.scheduled?.some((one) => one.from === from)) throw takenTime(name);
            if (priceIdAt(stored, at) === replaces) return withPriceId(stored, saved.id, at, from);
            const sentence = `The model "${name}" has another price by now: read it again.`;
            throw new GatewayError('conflict', sentence, { param: 'replaces' });
          },
          price: saved,
          audit: audit(name, was, is),
        },
      ]);
      return saved;
    },

    async cancel(priceId, audit) {
      const version = await store.price(priceId);
      const plannedIn = (row: ModelRow | undefined) => row?.scheduled?.find((one) => one.priceId === priceId);
      const unknown = () => new GatewayError('not_found', `There is no scheduled price "${priceId}".`, { param: 'id' });
      const row = (await store.models()).find((one) => plannedIn(one));
      const planned = plannedIn(row);
      if (!version || !row || !planned) throw unknown();
      if (planned.from <= now()) {
        throw new GatewayError('conflict', `The price "${priceId}" has begun: adopt or set another one.`);
      }
      const price = writePeoplesPrice(readComponents(version.components));
      await store.changeModels([
        {
          name: row.name,
          change(stored) {
            if (!stored || !plannedIn(stored)) throw unknown();
            const { scheduled = [], ...rest } = stored;
            const left = scheduled.filter((one) => one.priceId !== priceId);
            return { ...rest, ...(left.length > 0 && { scheduled: left }) };
          },
          audit: audit(row.name, { priceId, price, from: new Date(planned.from) }),
        },
      ]);
    },
  };
}

function refusePast(from: number | undefined, now: number): void {
  if (from === undefined || from > now) return;
  const sentence = '"from" must be in the future: leave it out to begin now.';
  throw new GatewayError('invalid_request', sentence, { param: 'from' });
}

/** Somebody else may have scheduled it: it would be gone without a word. */
function takenTime(name: string): GatewayError {
  const sentence = `The model "${name}" has a price that begins at this time: take that one back first.`;
  return new GatewayError('conflict', sentence, { param: 'from' });
}

function changedMeanwhile(): GatewayError {
  const sentence = 'Prices or the price file have changed since they were compared: compare them again.';
  return new GatewayError('conflict', sentence, { param: 'fingerprint' });
}

const nameOf = ({ source = RELEASE_SOURCE, prices }: PriceSource) => (prices === undefined ? source : 'file');

async function readSource({ source = RELEASE_SOURCE, prices }: PriceSource, guard: PriceBookSettings['guard']) {
  if (prices !== undefined) return checked(prices, 'prices');
  if (source === RELEASE_SOURCE) return PRICE_LIST;
  const { bytes } = await guard.fetch(source, AbortSignal.timeout(FETCH_MS));
  let read: unknown;
  try {
    read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new GatewayError('invalid_request', 'The price file is not valid JSON.', { param: 'source' });
  }
  return checked(read, 'source');
}

/** The schema is loaded when it is first needed: the start does not need it. */
async function checked(file: unknown, param: string): Promise<PriceFile> {
  const [{ PriceFile: schema }, { Errors }] = await Promise.all([import('./price-schema.ts'), import('typebox/value')]);
  const [fault] = Errors(schema, file);
  if (!fault) return file as PriceFile;
  const place = fault.instancePath.slice(1).replaceAll('/', '.');
  const sentence = `The price file is not valid: ${place === '' ? '' : `${place} `}${fault.message}.`;
  throw new GatewayError('invalid_request', sentence, { param });
}
