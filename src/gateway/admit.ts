/** Whether a call may begin: the model is on sale, the key may use it, its rates and the balance cover it. */
import type { Caller } from '../access/access.ts';
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { charge } from '../ledger/charge.ts';
import { estimateInput, quote } from '../ledger/quote.ts';
import { Meter } from './meter.ts';
import type { GatewayRooms } from './rooms.ts';
import type { Walk } from './walk.ts';

export interface Entrant {
  id: string;
  startedMs: number;
  dialect: Dialect;
  caller: Caller;
  call: Call;
  strict: boolean;
  leave: (walk: Walk) => void;
}

/** Throws `model_not_found`, `model_not_allowed`, `rate_limited`, `upstream_unavailable`, `insufficient_balance`, `budget_exhausted`. */
export async function admit(rooms: GatewayRooms, entrant: Entrant): Promise<Walk> {
  const { caller, call } = entrant;
  const now = rooms.now();
  const model = rooms.catalog.find(call.model);
  if (!model) throw unknownModel(call.model);
  rooms.access.allowModel(caller, call.model);
  if (model.kind !== call.kind) throw wrongKind(model.name, model.kind);
  const targets = rooms.catalog.order(model, rooms.random, now);
  const ceiling = call.maxOutputTokens ?? model.maxOutputTokens;
  const estimatedInput = estimateInput(call);
  const endRate = rooms.access.admit(caller, estimatedInput + ceiling, now);
  try {
    const hold = await rooms.ledger.hold({
      callId: entrant.id,
      account: caller.account,
      key: caller.key,
      amount: quote(call, model.price, ceiling),
      model: model.name,
      priceId: model.priceId,
      at: now,
      // The first attempt follows at once: a crash from now on costs the caller the input.
      sentAt: now,
      checkpoint: charge({ input: estimatedInput, output: 0, source: 'counted' }, model.price),
      ...(caller.budget && { budget: caller.budget }),
    });
    const walk: Walk = {
      ...entrant,
      at: now,
      leave: () => entrant.leave(walk),
      model,
      hold,
      targets,
      meter: new Meter(estimatedInput),
      endRate,
      abort: new AbortController(),
      attempts: 0,
      warnings: [],
      target: undefined,
      upstreamDialect: '',
      firstByteMs: undefined,
      concluded: undefined,
    };
    return walk;
  } catch (thrown) {
    endRate(0);
    throw thrown;
  }
}

function unknownModel(name: string): GatewayError {
  const sentence = `The model \`${name}\` does not exist or you do not have access to it. GET /v1/models lists the models; letter case counts.`;
  return new GatewayError('model_not_found', sentence, { param: 'model' });
}

function wrongKind(name: string, kind: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The model \`${name}\` is of kind ${kind}: this endpoint does not serve it.`,
    {
      param: 'model',
    },
  );
}
