/** Admin API: creating, listing and changing accounts, and reading their ledger. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { newId } from '../../../canonical/id.ts';
import type { AccountChange, AccountRow } from '../../../store/rows.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { accountNamed } from './account-named.ts';
import { Account, writeAccount } from './account-shape.ts';
import { audited } from './audit-routes.ts';
import { changeable, LIMITS, limitChangesOf, limitsOf, Spent, writeBudget } from './limit-fields.ts';
import { Entry, writeEntry } from './money-routes.ts';
import { requirePriceGroup } from './price-routes.ts';

const Name = Type.String({ minLength: 1, maxLength: 200, description: 'a name of 1 to 200 characters' });
const PriceGroup = Type.String({ description: 'the name of a price group' });
const NewAccount = Type.Object(
  { name: Name, priceGroup: Type.Optional(PriceGroup), ...LIMITS.input },
  { additionalProperties: false },
);
const EntryQuery = Type.Object({
  ...PAGE,
  // The number of an entry.
  after: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: 'the "next" of the page before' })),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description: '"asc" (oldest first, the default) or "desc" (newest first)',
    }),
  ),
});
const ChangedAccount = Type.Object(
  { name: Type.Optional(Name), priceGroup: changeable(PriceGroup), ...LIMITS.changed },
  { additionalProperties: false },
);

export const ACCOUNT_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/accounts', {
    gate: 'admin',
    permission: 'accounts:write',
    summary: 'Creates an account with a balance of zero.',
    body: NewAccount,
    reply: Account,
    answer: async (deps, { body, caller }) => {
      await refuseTwin(deps, body.name);
      const { name, priceGroup } = body;
      if (priceGroup !== undefined) await requirePriceGroup(deps, priceGroup);
      const id = newId('acct_');
      const empty = { id, name, balance: 0n, held: 0n, createdAt: deps.now() };
      const account: AccountRow = { ...empty, ...(priceGroup !== undefined && { priceGroup }), ...limitsOf(body) };
      await deps.store.createAccount(account, audited(deps, caller, 'account.created', id));
      return writeAccount(priceGroup === undefined ? account : await accountNamed(deps.store, id));
    },
  }),
  route('GET', '/admin/v1/accounts', {
    gate: 'admin',
    permission: 'accounts:read',
    summary: 'Lists the accounts.',
    query: Type.Object(PAGE),
    reply: listOf(Account),
    answer: ({ store }, { query }) =>
      pageOf(
        query,
        (page) => store.accounts(page),
        (account) => account.id,
        writeAccount,
      ),
  }),
  route('GET', '/admin/v1/accounts/:id', {
    gate: 'admin',
    permission: 'accounts:read',
    summary: 'Shows an account, by id or name.',
    reply: Type.Object({ ...Account.properties, spent: Spent }),
    answer: async ({ store, now }, { path }) => {
      const account = await accountNamed(store, path.id);
      return { ...writeAccount(account), spent: writeBudget(await store.accountSpending(account.id, now())) };
    },
  }),
  route('PATCH', '/admin/v1/accounts/:id', {
    gate: 'admin',
    permission: 'accounts:write',
    summary: 'Changes name, budget or limits of an account. Absent members stay; null removes a value.',
    body: ChangedAccount,
    reply: Account,
    answer: async (deps, request) => {
      const { name, priceGroup } = request.body;
      if (priceGroup != null) await requirePriceGroup(deps, priceGroup);
      if (name !== undefined && name !== (await accountNamed(deps.store, request.path.id)).name)
        await refuseTwin(deps, name);
      const group = priceGroup !== undefined && { priceGroup };
      const change = { ...(name !== undefined && { name }), ...group, ...limitChangesOf(request.body) };
      return changeAccount(deps, request, 'account.changed', change);
    },
  }),
  route('POST', '/admin/v1/accounts/:id/disable', {
    gate: 'admin',
    permission: 'accounts:write',
    summary: 'Disables an account: all its keys are refused.',
    reply: Account,
    answer: (deps, request) => changeAccount(deps, request, 'account.disabled', { disabledAt: deps.now() }),
  }),
  route('POST', '/admin/v1/accounts/:id/enable', {
    gate: 'admin',
    permission: 'accounts:write',
    summary: 'Enables a disabled account.',
    reply: Account,
    answer: (deps, request) => changeAccount(deps, request, 'account.enabled', { disabledAt: null }),
  }),
  route('GET', '/admin/v1/accounts/:id/webhook-secret', {
    gate: 'admin',
    permission: 'keys:write',
    summary: "Shows the secret that signs the account's webhooks (Standard Webhooks).",
    reply: Type.Object({ secret: Type.String() }),
    answer: async ({ store }, { path }) => {
      const { id } = await accountNamed(store, path.id);
      return { secret: await store.tasks.webhookSecret(id) };
    },
  }),
  route('GET', '/admin/v1/accounts/:id/entries', {
    gate: 'admin',
    permission: 'money:read',
    summary: "Lists the account's ledger, oldest first unless `order` is `desc`.",
    query: EntryQuery,
    reply: listOf(Entry),
    answer: async ({ store }, { path, query }) => {
      const { id } = await accountNamed(store, path.id);
      return pageOf(
        query,
        (page) => store.entries(id, { ...page, newestFirst: query.order === 'desc' }),
        (entry) => String(entry.seq),
        writeEntry,
      );
    },
  }),
];

async function refuseTwin({ store }: HttpDeps, name: string): Promise<void> {
  if (await store.account(name)) {
    throw new GatewayError('conflict', `An account "${name}" already exists.`, { param: 'name' });
  }
}

async function changeAccount<Body>(
  deps: HttpDeps,
  { path, caller }: RouteRequest<unknown, Body>,
  action: string,
  change: AccountChange,
): Promise<object> {
  const before = await accountNamed(deps.store, path.id);
  const after = await deps.store.updateAccount(before.id, change, audited(deps, caller, action, before.id));
  deps.access.forget();
  // The statement that changes an account does not read its price group.
  return writeAccount(after?.priceGroup === undefined ? (after ?? before) : await accountNamed(deps.store, before.id));
}
