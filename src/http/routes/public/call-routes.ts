/** What a caller can read about a call of its own account. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import { writeMoney } from '../../../canonical/money.ts';
import { readReceipt } from '../../../telemetry/receipt.ts';
import { named } from '../../fields/named.ts';
import { Time, writeTime } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import { ATTEMPT, ownChargeOf, plainAttempt, RECEIPT } from '../../receipt-shape.ts';
import { type AnsweredRoute, route } from '../../route.ts';

const OwnCall = named('OwnCall', {
  id: Type.String(),
  object: Type.Literal('call'),
  at: Time,
  model: Type.String(),
  stream: Type.Boolean(),
  status: Type.Integer(),
  outcome: Type.String({ description: '`running`: of a video that is still generated' }),
  cost: Usd,
  usage: Type.Optional(Type.Object({})),
  durationMs: Type.Number(),
  firstByteMs: Type.Optional(Type.Number()),
  ...Type.Omit(Type.Object(RECEIPT), ['attempts', 'admittedMs', 'route', 'entries', 'listCost', 'priceFactor'])
    .properties,
  attempts: Type.Array(Type.Partial(ATTEMPT), {
    description: 'without providers and messages of errors, unless the operator shows them',
  }),
});

export const OWN_CALL_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/v1/calls/:id', {
    gate: 'caller',
    scope: 'balance',
    summary: "Shows one of the account's calls, by the x-request-id of its response: usage, charge, what happened.",
    reply: OwnCall,
    answer: async ({ store, refusals, settings, videos }, { path, caller }) => {
      await refusals.flush();
      const call = (await store.call(path.id ?? '')) ?? (await videos.running(path.id ?? ''));
      if (!call || call.account !== caller.account)
        throw new GatewayError('not_found', `There is no call "${path.id}".`, { param: 'id' });
      const { admittedMs: _, route: __, attempts, ...receipt } = readReceipt(call);
      return {
        id: call.id,
        object: 'call',
        at: writeTime(call.at),
        model: call.model,
        stream: call.stream,
        status: call.status,
        outcome: call.outcome,
        cost: writeMoney(call.cost),
        ...(call.usage && { usage: call.usage }),
        durationMs: call.durationMs,
        ...(call.firstByteMs !== undefined && { firstByteMs: call.firstByteMs }),
        ...receipt,
        ...(await ownChargeOf(store, call)),
        attempts: settings.showAttempts ? attempts.map(({ credential: _, ...one }) => one) : attempts.map(plainAttempt),
      };
    },
  }),
];
