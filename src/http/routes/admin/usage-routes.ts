/** Admin API: usage of all accounts. */
import { Type } from 'typebox';
import { type AnsweredRoute, route } from '../../route.ts';
import { ALL_GROUPS, usageQuery, usageReply, usageReport } from '../usage/usage-report.ts';
import { accountNamed } from './account-named.ts';

export const USAGE_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/usage', {
    gate: 'admin',
    permission: 'usage:read',
    summary:
      'Sums up the calls of all accounts by groups, the last 30 days by day by default. As CSV or lines of JSON if `Accept` is `text/csv` or `application/x-ndjson`.',
    query: Type.Object({
      ...usageQuery(ALL_GROUPS),
      account: Type.Optional(Type.String({ description: "an account's id or name" })),
      key: Type.Optional(Type.String({ description: "a key's id" })),
      model: Type.Optional(Type.String()),
    }),
    reply: usageReply(ALL_GROUPS),
    answer: async (deps, { query, headers }) => {
      const { account: name, key, model } = query;
      const account = name === undefined ? undefined : (await accountNamed(deps.store, name)).id;
      const only = { ...(account && { account }), ...(key && { key }), ...(model && { model }) };
      return usageReport(deps, query, ALL_GROUPS, only, headers.get('accept'));
    },
  }),
];
