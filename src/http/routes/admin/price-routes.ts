/** Admin API: setting a price, prices of a price file beside those in use, adopting them, and price groups. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { readFactor, writeFactor, writeMoney } from '../../../canonical/money.ts';
import type { Adoption, ComparedPrices } from '../../../catalog/price-book.ts';
import type { PriceDifference } from '../../../catalog/price-diff.ts';
import { readComponents, writePeoplesPrice } from '../../../catalog/price-text.ts';
import type { Repriced, RepricingReport, RepricingRunning } from '../../../ledger/repricing.ts';
import type { PriceGroupRow, PriceRow, ScheduledPrice } from '../../../store/catalog-rows.ts';
import { named } from '../../fields/named.ts';
import { Time, TimeInput, timeOf, writeTime } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { audited } from './audit-routes.ts';

const DAYS = 30;
const WAIT_SECONDS = 10;
const RETRY_AFTER_SECONDS = 2;

const Source = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2000,
    description: '"release" (the price file of this version, the default), or the URL of a price file',
  }),
);
const Prices = Type.Optional(
  Type.Object({}, { description: 'the content of a price file, in the form of src/catalog/prices.json' }),
);
const Days = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 92, description: 'days of calls, 30 by default; 0: without the effect' }),
);
const Wait = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 10, description: 'the seconds to wait for the effect, 10 by default' }),
);
const Price = Type.Record(Type.String(), Type.Unknown(), { description: 'in the form of modelport.yaml' });
const Scheduled = Type.Array(Type.Object({ priceId: Type.String(), from: Time }));

const Difference = Type.Object({
  model: Type.String(),
  provider: Type.String({ description: 'the type of the provider' }),
  target: Type.String({ description: "the provider's name of the model" }),
  priceId: Type.String({ description: 'the price version in use' }),
  before: Price,
  after: Price,
  source: Type.String({ description: 'where the price was read' }),
  asOf: Type.String({ description: 'the day of the price' }),
  note: Type.Optional(Type.String()),
  scheduled: Type.Optional(Scheduled),
});
const BILL = { calls: Type.Integer(), before: Usd, after: Usd, difference: Usd };
const Effect = Type.Object({
  state: Type.String({ description: 'done, or running: repeat the request' }),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  done: Type.Optional(Type.Integer({ description: 'calls that were read so far' })),
  total: Type.Optional(Type.Integer()),
  skipped: Type.Optional(Type.Integer({ description: 'calls without usage, and disputed ones' })),
  calls: Type.Optional(Type.Integer()),
  before: Type.Optional(Usd),
  after: Type.Optional(Usd),
  difference: Type.Optional(Usd),
  models: Type.Optional(Type.Array(Type.Object({ model: Type.String(), ...BILL }))),
});
export const PriceDiff = named('PriceDiff', {
  source: Type.String(),
  asOf: Type.String({ description: 'the latest day of a price in the file' }),
  fingerprint: Type.String({ description: 'for the adoption of these differences' }),
  models: Type.Array(Difference),
  equal: Type.Integer({ description: 'models with the price of the file' }),
  unlisted: Type.Array(Type.String({ description: 'a model that the file does not have' })),
  effect: Type.Optional(Effect),
});

const Adopt = Type.Object(
  {
    source: Source,
    prices: Prices,
    fingerprint: Type.String({ description: 'the "fingerprint" of the comparison that was shown' }),
    models: Type.Union([Type.Literal('all'), Type.Array(Type.String(), { minItems: 1 })], {
      description: 'names of models, or "all"',
    }),
    from: Type.Optional(TimeInput),
  },
  { additionalProperties: false },
);

const NewPrice = Type.Object(
  {
    model: Type.String({ description: 'the name of a model' }),
    price: Price,
    replaces: Type.String({ description: 'the `priceId` of the model as you have read it' }),
    from: Type.Optional(TimeInput),
  },
  { additionalProperties: false },
);

export const PriceVersion = named('PriceVersion', {
  id: Type.String(),
  model: Type.String(),
  price: Price,
  createdAt: Time,
  effectiveAt: Type.Optional({ ...Time, description: 'of a scheduled price; absent: from its creation' }),
  source: Type.Optional(Type.String({ description: 'the price file that it was adopted from' })),
});

const Group = named('PriceGroup', {
  name: Type.String(),
  factor: Type.String({ description: 'the charge at list price is multiplied by it' }),
  createdAt: Time,
});
const Factor = Type.Object(
  { factor: Type.Union([Type.String(), Type.Number()], { description: 'a decimal such as "1.2"' }) },
  { additionalProperties: false },
);
/** No spaces or control characters: the name is a part of paths and of command lines. */
const GROUP_NAME = /^[\w.-]{1,100}$/;

export const PRICE_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/prices/diff', {
    gate: 'admin',
    permission: 'supply:read',
    summary:
      'Compares the prices in use with a price file, and shows what the calls of the last days would have cost. Changes nothing. While the effect is computed, `effect.state` is `running`: repeat the request.',
    query: Type.Object({ source: Source, days: Days, wait: Wait }),
    reply: PriceDiff,
    answer: (deps, { query }) => diff(deps, query),
  }),
  route('POST', '/admin/v1/prices/diff', {
    gate: 'admin',
    permission: 'supply:read',
    summary: 'The same with the content of a price file.',
    query: Type.Object({ days: Days, wait: Wait }),
    body: Type.Object({ source: Source, prices: Prices }, { additionalProperties: false }),
    reply: PriceDiff,
    answer: (deps, { query, body }) => diff(deps, { ...query, ...body }),
  }),
  route('POST', '/admin/v1/prices/adopt', {
    gate: 'admin',
    permission: 'prices:write',
    summary:
      'Adopts prices of a price file, as they were compared: now, or for calls that begin at `from` or later. 409 if prices or file have changed since.',
    body: Adopt,
    reply: Type.Object({
      from: Time,
      models: Type.Array(Type.Object({ model: Type.String(), priceId: Type.String(), before: Price, after: Price })),
    }),
    answer: async (deps, { body, caller }) => {
      const { from: begin, ...rest } = body;
      const from = begin === undefined ? undefined : timeOf(begin, 'from');
      const adoption: Adoption = { ...rest, from };
      const adopted = await deps.prices.adopt(adoption, (model, before, after) => {
        const audit = audited(deps, caller, 'price.adopted', model);
        return () => audit(before, after);
      });
      await deps.catalog.reload();
      return {
        from: writeTime(from ?? deps.now()),
        models: adopted.map(({ model, newPriceId, before, after }) => ({
          model,
          priceId: newPriceId,
          before: writePeoplesPrice(before),
          after: writePeoplesPrice(after),
        })),
      };
    },
  }),
  route('POST', '/admin/v1/prices', {
    gate: 'admin',
    permission: 'prices:write',
    summary:
      'Sets the price of a model: now, or for calls that begin at `from` or later. The rest of the model stays. 409 if it has another price than `replaces` by now, or one that begins at the same time.',
    body: NewPrice,
    reply: PriceVersion,
    answer: async (deps, { body, caller }) => {
      const { from, ...rest } = body;
      const version = { ...rest, from: from === undefined ? undefined : timeOf(from, 'from') };
      const saved = await deps.prices.set(version, (model, before, after) => {
        const audit = audited(deps, caller, 'price.set', model);
        return () => audit(before, after);
      });
      await deps.catalog.reload();
      return writePriceVersion(saved);
    },
  }),
  route('DELETE', '/admin/v1/prices/:id', {
    gate: 'admin',
    permission: 'prices:write',
    summary: 'Takes back a scheduled price that has not begun. The price version stays in the history.',
    reply: Type.Object({ id: Type.String(), removed: Type.Literal(true) }),
    answer: async (deps, { path, caller }) => {
      const { id = '' } = path;
      await deps.prices.cancel(id, (model, before) => {
        const audit = audited(deps, caller, 'price.cancelled', model);
        return () => audit(before, undefined);
      });
      await deps.catalog.reload();
      return { id, removed: true };
    },
  }),
  route('GET', '/admin/v1/price-groups', {
    gate: 'admin',
    permission: 'supply:read',
    summary: 'Lists the price groups: accounts that pay list prices times a factor.',
    reply: Type.Object({ data: Type.Array(Group) }),
    answer: async ({ store }) => ({ data: (await store.priceGroups()).map(writeGroup) }),
  }),
  route('PUT', '/admin/v1/price-groups/:name', {
    gate: 'admin',
    permission: 'prices:write',
    summary: 'Creates a price group, or changes its factor for calls from now on.',
    body: Factor,
    reply: Group,
    answer: async (deps, { path, body, caller }) => {
      const { name = '' } = path;
      if (!GROUP_NAME.test(name)) {
        const sentence = 'The name of a price group has 1 to 100 letters, digits, dots, hyphens and underscores.';
        throw new GatewayError('invalid_request', sentence, { param: 'name' });
      }
      const before = (await deps.store.priceGroups()).find((group) => group.name === name);
      const group: PriceGroupRow = {
        name,
        factor: factorOf(body.factor),
        createdAt: before?.createdAt ?? deps.now(),
      };
      const action = `price-group.${before ? 'changed' : 'created'}`;
      await deps.store.savePriceGroup(group, audited(deps, caller, action, name));
      deps.access.forget();
      return writeGroup(group);
    },
  }),
  route('DELETE', '/admin/v1/price-groups/:name', {
    gate: 'admin',
    permission: 'prices:write',
    summary: 'Removes a price group without accounts.',
    reply: Type.Object({ name: Type.String(), removed: Type.Literal(true) }),
    answer: async (deps, { path, caller }) => {
      const { name = '' } = path;
      const audit = audited(deps, caller, 'price-group.removed', name);
      if (!(await deps.store.removePriceGroup(name, audit))) throw unknownGroup(name, 'name');
      return { name, removed: true };
    },
  }),
];

/** Throws `not_found` if there is no such price group. */
export async function requirePriceGroup({ store }: Pick<HttpDeps, 'store'>, name: string): Promise<void> {
  if (!(await store.priceGroups()).some((group) => group.name === name)) throw unknownGroup(name, 'priceGroup');
}

const unknownGroup = (name: string, param: string) =>
  new GatewayError('not_found', `There is no price group "${name}".`, { param });

function factorOf(value: string | number): string {
  const factor = readFactor(String(value));
  if (factor !== undefined) return writeFactor(factor);
  const sentence = '"factor" must be a decimal above 0 and up to 1000, with at most six decimals, such as "1.2".';
  throw new GatewayError('invalid_request', sentence, { param: 'factor' });
}

const writeGroup = ({ name, factor, createdAt }: PriceGroupRow): object => ({
  name,
  factor,
  createdAt: writeTime(createdAt),
});

interface DiffRequest {
  source?: string;
  prices?: unknown;
  days?: number;
  wait?: number;
}

async function diff(deps: HttpDeps, { source, prices, days = DAYS, wait = WAIT_SECONDS }: DiffRequest) {
  const compared = await deps.prices.compare({ source, prices });
  const { fingerprint, differences } = compared;
  const written = writeComparison(compared);
  if (days === 0 || differences.length === 0) return written;
  const changed = new Map(differences.map(({ model, after }) => [model, after]));
  const report = await deps.repricings.ask({ fingerprint, days, prices: changed }, wait * 1000);
  if ('skipped' in report) return { ...written, effect: writeReport(report) };
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  return Response.json({ ...written, effect: writeRunning(report) }, { status: 202, headers });
}

const writeComparison = ({ source, asOf, fingerprint, differences, equal, unlisted }: ComparedPrices) => ({
  source,
  asOf,
  fingerprint,
  models: differences.map(writeDifference),
  equal,
  unlisted,
});

const writeDifference = ({ type, before, after, scheduled, ...difference }: PriceDifference): object => ({
  ...difference,
  provider: type,
  before: writePeoplesPrice(before),
  after: writePeoplesPrice(after),
  ...(scheduled && { scheduled: writeScheduled(scheduled) }),
});

export const writeScheduled = (scheduled: readonly ScheduledPrice[]): object[] =>
  scheduled.map(({ priceId, from }) => ({ priceId, from: writeTime(from) }));

export function writePriceVersion(row: PriceRow): object {
  const { id, model, createdAt, effectiveAt, source } = row;
  return {
    id,
    model,
    price: writePrice(row),
    createdAt: writeTime(createdAt),
    ...(effectiveAt !== undefined && { effectiveAt: writeTime(effectiveAt) }),
    ...(source !== undefined && { source }),
  };
}

export const writePrice = (row: PriceRow) => writePeoplesPrice(readComponents(row.components));

const writeRunning = ({ done, total }: RepricingRunning): object => ({ state: 'running', done, total });

function writeReport({ from, to, skipped, models, ...all }: RepricingReport): object {
  return {
    state: 'done',
    from: writeTime(from),
    to: writeTime(to),
    skipped,
    ...writeBill(all),
    models: [...models].map(([model, bill]) => ({ model, ...writeBill(bill) })),
  };
}

const writeBill = ({ calls, before, after }: Repriced): object => ({
  calls,
  before: writeMoney(before),
  after: writeMoney(after),
  difference: writeMoney(after - before),
});
