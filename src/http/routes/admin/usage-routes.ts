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
      'Sums up the calls of all accounts by groups, the last 30 days by day by default, with what the providers charge where that is known. As CSV or lines of JSON if `Accept` is `text/csv` or `application/x-ndjson`.',
    query: Type.Object({
      ...usageQuery(ALL_GROUPS),
      account: Type.Optional(Type.String({ description: "an account's id or name" })),
      key: Type.Optional(Type.String({ description: "a key's id" })),
      model: Type.Optional(Type.String()),
      provider: Type.Optional(Type.String({ description: 'that answered, or was tried last' })),
      tag: Type.Optional(Type.String({ description: 'one of the tags of the header `x-modelport-tags`' })),
    }),
    reply: usageReply(ALL_GROUPS),
    answer: async (deps, { query, headers }) => {
      const { account: name, key, model, provider, tag } = query;
      const account = name === undefined ? undefined : (await accountNamed(deps.store, name)).id;
      const only = {
        ...(account && { account }),
        ...(key && { key }),
        ...(model && { model }),
        ...(provider && { provider }),
        ...(tag && { tag }),
      };
      return usageReport(deps, query, ALL_GROUPS, only, headers.get('accept'));
    },
  }),
];
