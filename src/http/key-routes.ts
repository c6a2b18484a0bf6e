/** The admin API's keys: made, listed, disabled, given a new secret. The key itself is answered once. */
import { type Static, Type } from 'typebox';
import { readRange } from '../access/cidr.ts';
import { issueKey } from '../access/key.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { writeMoney } from '../canonical/money.ts';
import type { Budget, KeyRow, Store } from '../store/store.ts';
import { accountNamed } from './account-routes.ts';
import { listOf, moneyOf, PAGE, pageOf, Time, TimeAsked, timeOf, Usd, UsdAsked, writeTime } from './fields.ts';
import type { Rooms } from './rooms.ts';
import { type AnsweredRoute, type Asked, route } from './route.ts';

const perMinute = (what: string) =>
  Type.Optional(Type.Integer({ minimum: 1, description: `a number of ${what}, at least 1` }));

const NewKey = Type.Object(
  {
    account: Type.Optional(Type.String({ description: "an account's id or name" })),
    name: Type.String({ minLength: 1, maxLength: 200, description: 'a name of 1 to 200 characters' }),
    kind: Type.Optional(
      Type.Union([Type.Literal('caller'), Type.Literal('admin')], { description: 'caller (the default) or admin' }),
    ),
    expiresAt: Type.Optional(TimeAsked),
    models: Type.Optional(Type.Array(Type.String(), { description: 'a list of model names' })),
    addresses: Type.Optional(
      Type.Array(Type.String(), { description: 'a list of addresses or CIDR ranges, such as "10.0.0.0/8"' }),
    ),
    budget: Type.Optional(
      Type.Union(
        [
          ...UsdAsked.anyOf,
          Type.Object(
            { total: Type.Optional(UsdAsked), day: Type.Optional(UsdAsked), month: Type.Optional(UsdAsked) },
            { additionalProperties: false },
          ),
        ],
        { description: 'a total in USD, or {total, day, month}' },
      ),
    ),
    requestsPerMinute: perMinute('requests'),
    tokensPerMinute: perMinute('tokens'),
    concurrency: perMinute('calls at once'),
  },
  { additionalProperties: false },
);
type NewKey = Static<typeof NewKey>;

const Key = Type.Object({
  id: Type.String(),
  account: Type.String(),
  kind: Type.String(),
  name: Type.String(),
  last4: Type.String(),
  createdAt: Time,
  expiresAt: Type.Optional(Time),
  disabledAt: Type.Optional(Time),
  models: Type.Optional(Type.Array(Type.String())),
  addresses: Type.Optional(Type.Array(Type.String())),
  budget: Type.Optional(Type.Object({ total: Type.Optional(Usd), day: Type.Optional(Usd), month: Type.Optional(Usd) })),
  requestsPerMinute: Type.Optional(Type.Integer()),
  tokensPerMinute: Type.Optional(Type.Integer()),
  concurrency: Type.Optional(Type.Integer()),
});

/** With the key itself, which is shown this once. */
const KeyIssued = Type.Object({ ...Key.properties, key: Type.String() });

export const KEY_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/keys', {
    gate: 'admin',
    summary: 'Makes a key of an account. The key itself is shown this once.',
    body: NewKey,
    reply: KeyIssued,
    answer: createKey,
  }),
  route('GET', '/admin/v1/keys', {
    gate: 'admin',
    summary: 'Lists the keys; of the keys themselves only their last four characters.',
    query: Type.Object({ ...PAGE, account: Type.Optional(Type.String({ description: "an account's id or name" })) }),
    reply: listOf(Key),
    answer: async ({ store }, { query }) => {
      const account = query.account === undefined ? undefined : (await accountNamed(store, query.account)).id;
      return pageOf(
        query,
        (page) => store.keys({ ...page, ...(account !== undefined && { account }) }),
        (key) => key.id,
        writeKey,
      );
    },
  }),
  route('POST', '/admin/v1/keys/:id/disable', {
    gate: 'admin',
    summary: 'Disables a key.',
    reply: Key,
    answer: async (rooms, { path }) => writeKey(await changeKey(rooms, path.id, { disabledAt: rooms.now() })),
  }),
  route('POST', '/admin/v1/keys/:id/rotate', {
    gate: 'admin',
    summary: 'Gives a key a new secret; the old one opens nothing from now on.',
    reply: KeyIssued,
    answer: async (rooms, { path }) => {
      // A change of nothing reads the row.
      const { kind } = await changeKey(rooms, path.id, {});
      const { key, hash, last4 } = issueKey(kind);
      return { ...writeKey(await changeKey(rooms, path.id, { hash, last4 })), key };
    },
  }),
];

async function createKey(rooms: Rooms, { body, caller }: Asked<unknown, NewKey>): Promise<object> {
  const kind = body.kind ?? 'caller';
  if (body.account === undefined && kind === 'caller') {
    throw new GatewayError('invalid_request', '"account" is missing.', { param: 'account' });
  }
  const account = body.account === undefined ? caller.account : (await accountNamed(rooms.store, body.account)).id;
  const { key, hash, last4 } = issueKey(kind);
  const { name, expiresAt, models, addresses, budget, requestsPerMinute, tokensPerMinute, concurrency } = body;
  const row: KeyRow = {
    id: newId('key_'),
    account,
    kind,
    name,
    hash,
    last4,
    createdAt: rooms.now(),
    ...(expiresAt !== undefined && { expiresAt: timeOf(expiresAt, 'expiresAt') }),
    ...(models !== undefined && { models }),
    ...(addresses !== undefined && { addresses: rangesOf(addresses) }),
    ...(budget !== undefined && { budget: budgetOf(budget) }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
  };
  await rooms.store.createKey(row);
  rooms.access.forget();
  return { ...writeKey(row), key };
}

function rangesOf(addresses: string[]): string[] {
  for (const [at, address] of addresses.entries()) {
    if (readRange(address)) continue;
    const sentence = `"${address}" is no address: write one or a CIDR range, such as 10.0.0.0/8.`;
    throw new GatewayError('invalid_request', sentence, { param: `addresses[${at}]` });
  }
  return addresses;
}

function budgetOf(asked: NonNullable<NewKey['budget']>): Budget {
  if (typeof asked !== 'object') return { total: moneyOf(asked, 'budget') };
  const budget: Budget = {};
  for (const span of ['total', 'day', 'month'] as const) {
    const amount = asked[span];
    if (amount !== undefined) budget[span] = moneyOf(amount, `budget.${span}`);
  }
  return budget;
}

async function changeKey(
  { store, access }: Rooms,
  id = '',
  change: Parameters<Store['updateKey']>[1],
): Promise<KeyRow> {
  const key = await store.updateKey(id, change);
  if (!key) throw new GatewayError('not_found', `There is no key with the id "${id}".`, { param: 'id' });
  access.forget();
  return key;
}

function writeKey({ hash: _, ...key }: KeyRow): object {
  const { createdAt, expiresAt, disabledAt, budget, ...rest } = key;
  return {
    ...rest,
    createdAt: writeTime(createdAt),
    expiresAt: expiresAt === undefined ? undefined : writeTime(expiresAt),
    disabledAt: disabledAt === undefined ? undefined : writeTime(disabledAt),
    budget: budget && Object.fromEntries(Object.entries(budget).map(([span, amount]) => [span, writeMoney(amount)])),
  };
}
