/** The admin API's records: calls, and the proof that ledger, holds and calls agree. */
import { type Static, Type } from 'typebox';
import { GatewayError } from '../canonical/errors.ts';
import { writeMoney } from '../canonical/money.ts';
import type { CallFilter, CallRow } from '../store/store.ts';
import { accountNamed } from './account-named.ts';
import { listOf, PAGE, pageOf, Time, TimeAsked, timeOf, Usd, writeTime } from './fields.ts';
import type { Rooms } from './rooms.ts';
import { type AnsweredRoute, route } from './route.ts';

const CallQuery = Type.Object({
  ...PAGE,
  account: Type.Optional(Type.String({ description: "an account's id or name" })),
  key: Type.Optional(Type.String({ description: "a key's id" })),
  model: Type.Optional(Type.String()),
  from: Type.Optional(TimeAsked),
  to: Type.Optional(TimeAsked),
});

const Call = Type.Object({
  id: Type.String(),
  account: Type.String(),
  key: Type.String(),
  at: Time,
  model: Type.String(),
  provider: Type.String(),
  targetModel: Type.String(),
  dialect: Type.String(),
  upstreamDialect: Type.String(),
  stream: Type.Boolean(),
  status: Type.Integer(),
  outcome: Type.String({ description: 'one of ok, refused, failed, broken, aborted, interrupted' }),
  errorCode: Type.Optional(Type.String()),
  provisional: Type.Optional(
    Type.Boolean({
      description: 'settled for a process that seemed dead; its own settlement, should one come, replaces it',
    }),
  ),
  attempts: Type.Integer(),
  cost: Usd,
  priceId: Type.String(),
  usage: Type.Optional(Type.Object({})),
  durationMs: Type.Number(),
  firstByteMs: Type.Optional(Type.Number()),
});

const Verified = Type.Object({
  ok: Type.Boolean(),
  accounts: Type.Integer(),
  entries: Type.Integer(),
  holds: Type.Integer(),
  counters: Type.Record(Type.String(), Usd),
  faults: Type.Array(Type.String()),
});

export const CALL_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/calls', {
    gate: 'admin',
    summary: 'Lists the calls, the latest first.',
    query: CallQuery,
    reply: listOf(Call),
    answer: async (rooms, { query }) => {
      const filter = await filterOf(rooms, query);
      return pageOf(
        query,
        (page) => rooms.store.calls({ ...filter, ...page }),
        (call) => call.id,
        writeCall,
      );
    },
  }),
  route('GET', '/admin/v1/calls/:id', {
    gate: 'admin',
    summary: 'Shows one call, by the x-request-id of its answer.',
    reply: Call,
    answer: async ({ store }, { path }) => {
      const call = await store.call(path.id ?? '');
      if (!call) throw new GatewayError('not_found', `There is no call "${path.id}".`, { param: 'id' });
      return writeCall(call);
    },
  }),
  route('GET', '/admin/v1/ledger/verify', {
    gate: 'admin',
    summary: 'Proves that sums, holds and calls agree and that no entry was altered.',
    reply: Verified,
    answer: async ({ ledger }) => {
      const { counters, ...report } = await ledger.verify();
      const sums = Object.entries(counters).map(([name, sum]) => [name, writeMoney(sum)]);
      return { ...report, counters: Object.fromEntries(sums) };
    },
  }),
];

async function filterOf(
  rooms: Rooms,
  { account, key, model, from, to }: Static<typeof CallQuery>,
): Promise<Omit<CallFilter, 'limit' | 'after'>> {
  return {
    ...(account !== undefined && { account: (await accountNamed(rooms.store, account)).id }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(from !== undefined && { from: timeOf(from, 'from') }),
    ...(to !== undefined && { to: timeOf(to, 'to') }),
  };
}

function writeCall(call: CallRow): object {
  return { ...call, at: writeTime(call.at), cost: writeMoney(call.cost) };
}
