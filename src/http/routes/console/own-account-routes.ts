/** The console: a person's own account. The answers are those of the admin API and of callers, for this account alone. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import type { PersonRow } from '../../../store/people.ts';
import type { KeyRow } from '../../../store/rows.ts';
import { PAGE } from '../../fields/page.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { ACCOUNT_ROUTES } from '../admin/account-routes.ts';
import { CALL_ROUTES } from '../admin/call-routes.ts';
import { KEY_ROUTES } from '../admin/key-routes.ts';
import { MONEY_ROUTES } from '../admin/money-routes.ts';
import { BILLING_ROUTES } from '../public/billing-routes.ts';
import { OWN_CALL_ROUTES } from '../public/call-routes.ts';
import { refuseCapture, refuseLoosening } from './own-keys.ts';

type OwnAccountRequest = RouteRequest<object, object>;

const rowOf = (rows: readonly AnsweredRoute[], method: string, path: string): AnsweredRoute => {
  const row = rows.find((one) => one.method === method && one.path === path);
  if (!row) throw new Error(`There is no route ${method} ${path}.`);
  return row;
};

/** Throws `not_found` for an account that is not the person's own. */
function ownAccount({ accounts }: Pick<PersonRow, 'accounts'>, id: string | undefined): string {
  const account = id === undefined ? accounts[0] : accounts.find((own) => own === id);
  if (account !== undefined) return account;
  throw new GatewayError('not_found', id === undefined ? 'You have no account.' : `"${id}" is not your account.`);
}

const OwnQuery = { account: Type.Optional(Type.String({ description: "the id of one of one's own accounts" })) };

/** The same answer for the person's own account: `as` changes the request. */
function own(
  row: AnsweredRoute,
  path: string,
  as: (request: OwnAccountRequest, account: string) => Partial<OwnAccountRequest>,
  query: object = row.query.properties,
): AnsweredRoute {
  return route(row.method, `/console/api/account${path}`, {
    gate: 'session',
    permission: row.method === 'GET' ? 'own:read' : 'own:write',
    summary: row.summary,
    query: Type.Object({ ...query, ...OwnQuery }),
    ...(row.body && { body: row.body }),
    answer: async (deps, given) => {
      const request = { ...given, query: given.query as { account?: string } } as unknown as OwnAccountRequest & {
        query: { account?: string };
      };
      const account = ownAccount(request.signedIn().person, request.query.account);
      const key = path.startsWith('/keys/') ? await ownKey(deps.store, request.path.id, account) : undefined;
      const isChecked = await refuseForMembers(deps, request, row, key);
      const store = key && isChecked ? unchangedSince(deps.store, key) : deps.store;
      return row.answer({ ...deps, store }, { ...request, ...as(request, account) });
    },
  });
}

/** Throws `not_found`. */
async function ownKey(store: HttpDeps['store'], id: string | undefined, account: string): Promise<KeyRow> {
  const key = await store.keyById(id ?? '');
  if (key?.account === account && key.kind === 'caller') return key;
  throw new GatewayError('not_found', `There is no key with the id "${id}".`, { param: 'id' });
}

/** Changes this key only if it is still as it was when the change was checked. Throws `conflict`. */
function unchangedSince(store: HttpDeps['store'], key: KeyRow): HttpDeps['store'] {
  return {
    ...store,
    updateKey: (id, change, audit) =>
      store.updateKey(
        id,
        change,
        audit &&
          ((before, after) => {
            if (Bun.deepEquals(before, key)) return audit(before, after);
            throw new GatewayError('conflict', 'The key was changed at the same time: look at it and try again.');
          }),
      ),
  };
}

/** Whether the change of a key was checked: who may change all keys may change these as well. Throws `permission_denied`. */
async function refuseForMembers(
  { store }: HttpDeps,
  { body, signedIn }: OwnAccountRequest,
  { method, path }: AnsweredRoute,
  key: KeyRow | undefined,
): Promise<boolean> {
  const { person, permissions } = signedIn();
  if (permissions.has('keys:write') || !path.startsWith('/admin/v1/keys')) return false;
  const changes = (body ?? {}) as { readonly [member: string]: unknown };
  if (method === 'PATCH' || path === '/admin/v1/keys') refuseCapture(changes);
  if (!key) return false;
  const by = { body: changes, person: person.id };
  if (method === 'PATCH') await refuseLoosening(store, key, { ...by, action: 'change' });
  if (path.endsWith('/enable')) await refuseLoosening(store, key, { ...by, action: 'enable' });
  return true;
}

const asCaller = ({ caller }: OwnAccountRequest, account: string) => ({ caller: { ...caller, account } });
const inPath = (_: OwnAccountRequest, account: string) => ({ path: { id: account } });

/** What callers may know of a call in a list. */
const SHOWN = [
  ...['id', 'at', 'key', 'model', 'stream', 'status', 'outcome', 'errorCode', 'attempts', 'cost', 'saved', 'usage'],
  ...['durationMs', 'firstByteMs', 'dispute'],
];

const calls = rowOf(CALL_ROUTES, 'GET', '/admin/v1/calls');
const { provider: _, account: __, ...callFilters } = calls.query.properties;

const listCalls: AnsweredRoute = {
  ...calls,
  async answer(deps, request) {
    const page = (await calls.answer(deps, { ...request, headers: new Headers() })) as {
      data: { [name: string]: unknown }[];
    };
    const data = page.data.map((call) => Object.fromEntries(SHOWN.map((name) => [name, call[name]])));
    return { ...page, data };
  },
};

const keyRoutes = KEY_ROUTES.map((row) => {
  const path = row.path.slice('/admin/v1'.length);
  if (path !== '/keys') return own(row, path, () => ({}));
  if (row.method === 'GET') return own(row, path, ({ query }, account) => ({ query: { ...query, account } }), PAGE);
  return own(row, path, ({ body }, account) => ({ body: { ...body, account, kind: 'caller' } }));
});

const account = rowOf(ACCOUNT_ROUTES, 'GET', '/admin/v1/accounts/:id');

/** Without its price group and the factor: they are the operator's margin. */
const showAccount: AnsweredRoute = {
  ...account,
  async answer(deps, request) {
    const {
      priceGroup: _,
      priceFactor: __,
      ...shown
    } = (await account.answer(deps, request)) as {
      [name: string]: unknown;
    };
    return shown;
  },
};

export const OWN_ACCOUNT_ROUTES: readonly AnsweredRoute[] = [
  own(showAccount, '', inPath),
  own(rowOf(ACCOUNT_ROUTES, 'GET', '/admin/v1/accounts/:id/entries'), '/entries', inPath),
  own(rowOf(MONEY_ROUTES, 'POST', '/admin/v1/accounts/:id/redemptions'), '/redeem', inPath),
  own(rowOf(BILLING_ROUTES, 'GET', '/v1/usage'), '/usage', asCaller),
  own(rowOf(OWN_CALL_ROUTES, 'GET', '/v1/calls/:id'), '/calls/:id', asCaller),
  own(listCalls, '/calls', ({ query }, account) => ({ query: { ...query, account } }), callFilters),
  ...keyRoutes,
];
