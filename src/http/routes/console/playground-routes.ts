/** The console: the key that calls of the playground are charged to. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { maySpend, playgroundKey } from '../../playground.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { accountNamed } from '../admin/account-named.ts';

export const PLAYGROUND_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/console/api/playground', {
    gate: 'session',
    permission: 'playground',
    summary:
      "Shows the key that playground calls of an account are charged to: of one's own account, or of another one that one may make keys for.",
    body: Type.Object(
      { account: Type.Optional(Type.String({ description: "an account's id or name" })) },
      { additionalProperties: false },
    ),
    answer: async (deps, { body, signedIn }) => {
      const me = signedIn();
      const first = me.permissions.has('keys:write') ? (await deps.store.accounts({ limit: 1 }))[0]?.id : undefined;
      const account = body.account ?? me.person.accounts[0] ?? first;
      if (account === undefined) throw new GatewayError('not_found', 'You have no account.');
      const { id, name } = await accountNamed(deps.store, account);
      if (!maySpend(me, id))
        throw new GatewayError('not_found', `There is no account "${account}".`, { param: 'account' });
      return { key: (await playgroundKey(deps, me, id)).id, account: { id, name } };
    },
  }),
];
