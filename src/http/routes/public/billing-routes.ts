/** What callers can read about money: balance, usage, and the billing dashboard that many tools use. */

import { Type } from 'typebox';
import type { Caller } from '../../../access/access.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { type Money, writeMoney } from '../../../canonical/money.ts';
import { DAY_MS } from '../../../canonical/time.ts';
import { TimeInput, timeOf } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { OWN_GROUPS, usageQuery, usageReply, usageReport } from '../usage/usage-report.ts';

const balanceRoute = route('GET', '/v1/balance', {
  gate: 'caller',
  scope: 'balance',
  summary: "Shows the account's balance: what is available, and what active calls hold.",
  reply: Type.Object({ available: Usd, held: Usd, currency: Type.Literal('USD') }),
  answer: async (deps, { caller }) => {
    const { available, held } = await balanceOf(deps, caller);
    return { available: writeMoney(available), held: writeMoney(held), currency: 'USD' };
  },
});

const usageRoute = route('GET', '/v1/usage', {
  gate: 'caller',
  scope: 'balance',
  summary:
    "Sums up the account's calls by groups; the last 30 days by day by default. As CSV or lines of JSON if `Accept` is `text/csv` or `application/x-ndjson`.",
  query: Type.Object({
    ...usageQuery(OWN_GROUPS),
    tag: Type.Optional(Type.String({ description: 'one of the tags of the header `x-modelport-tags`' })),
  }),
  reply: usageReply(OWN_GROUPS),
  answer: (deps, { caller, query, headers }) =>
    usageReport(
      deps,
      query,
      OWN_GROUPS,
      { account: caller.account, ...(query.tag && { tag: query.tag }) },
      headers.get('accept'),
    ),
});

const DashboardQuery = Type.Object({
  start_date: Type.Optional(TimeInput),
  end_date: Type.Optional(TimeInput),
});

const Subscription = Type.Object({
  object: Type.Literal('billing_subscription'),
  has_payment_method: Type.Boolean(),
  soft_limit_usd: Type.Number(),
  hard_limit_usd: Type.Number(),
  system_hard_limit_usd: Type.Number(),
  access_until: Type.Integer(),
});

const DashboardUsage = Type.Object({
  object: Type.Literal('list'),
  total_usage: Type.Number({ description: 'US cents' }),
});

/** Clients request both with and without `/v1`. */
const dashboardRoutes = ['/v1', ''].flatMap((prefix) => [
  route('GET', `${prefix}/dashboard/billing/subscription`, {
    gate: 'caller',
    scope: 'balance',
    summary: 'Shows all money that the account has received, as the OpenAI dashboard did.',
    reply: Subscription,
    answer: subscription,
  }),
  route('GET', `${prefix}/dashboard/billing/usage`, {
    gate: 'caller',
    scope: 'balance',
    summary: 'Shows what the account has spent, in US cents, as the OpenAI dashboard did.',
    query: DashboardQuery,
    reply: DashboardUsage,
    answer: async (deps, { caller, query }) => {
      const { start_date, end_date } = query;
      if (start_date === undefined && end_date === undefined) {
        return { object: 'list', total_usage: inDollars(await spentInAll(deps, caller)) * 100 };
      }
      const from = start_date === undefined ? 0 : timeOf(start_date, 'start_date');
      const to = end_date === undefined ? deps.now() + 1 : timeOf(end_date, 'end_date') + DAY_MS;
      return { object: 'list', total_usage: inDollars(await spent(deps, caller, from, to)) * 100 };
    },
  }),
]);

/** Tools show `hard_limit_usd` minus usage as the remaining credit. */
async function subscription(deps: HttpDeps, { caller }: RouteRequest): Promise<object> {
  const { available, held } = await balanceOf(deps, caller);
  const limit = inDollars(available + held + (await spentInAll(deps, caller)));
  return {
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: limit,
    hard_limit_usd: limit,
    system_hard_limit_usd: limit,
    access_until: Math.floor((caller.row.expiresAt ?? 0) / 1000),
  };
}

async function spent(deps: HttpDeps, caller: Caller, from: number, to: number): Promise<Money> {
  const sums = await deps.store.usage({ account: caller.account, from, to, groupBy: [] });
  return sums[0]?.cost ?? 0n;
}

const KEYS_AT_ONCE = 500;

/** From the stored sums of the keys: adding up every call of the account would take too long. */
async function spentInAll({ store, ledger, now }: HttpDeps, { account }: Caller): Promise<Money> {
  let sum = -((await ledger.balance(account))?.held ?? 0n);
  for (let after: string | undefined, more = true; more; ) {
    const keys = await store.keys({ account, limit: KEYS_AT_ONCE, ...(after !== undefined && { after }) });
    for (const { id } of keys) sum += (await store.keySpending(id, now())).total;
    after = keys.at(-1)?.id;
    more = keys.length === KEYS_AT_ONCE;
  }
  return sum;
}

async function balanceOf(deps: HttpDeps, caller: Caller): Promise<{ available: Money; held: Money }> {
  const balance = await deps.ledger.balance(caller.account);
  if (!balance) throw new GatewayError('internal_error', "The key's account does not exist.");
  return balance;
}

/** These formats have money as a JSON number. */
const inDollars = (amount: Money): number => Number(writeMoney(amount));

export const BILLING_ROUTES: readonly AnsweredRoute[] = [balanceRoute, usageRoute, ...dashboardRoutes];
