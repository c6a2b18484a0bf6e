/** Finds who answers a call: the model that was asked for, else those that answer in its place. */
import { GatewayError } from '../canonical/errors.ts';
import { choices } from '../ledger/quote.ts';
import { attempt } from './attempt.ts';
import type { CallContext } from './call-context.ts';
import type { Chain } from './candidate.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { unlessFiltered } from './prepare/filtered-reply.ts';
import type { Upstream } from './upstream.ts';

/** Resolves with the first target that answers. Throws the error the client should see when none does. */
export function answered(deps: GatewayDeps, context: CallContext): Promise<Upstream> {
  return context.chain ? throughChain(deps, context, context.chain) : attempt(deps, context);
}

async function throughChain(deps: GatewayDeps, context: CallContext, chain: Chain): Promise<Upstream> {
  for (;;) {
    try {
      const upstream = await attempt(deps, context);
      // Of several choices some may have passed.
      return chain.leavesFilter && choices(context.call) === 1 ? await unlessFiltered(upstream) : upstream;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || context.cancellation.cancelled) throw thrown;
      const next = chain.next(thrown) ?? chain.fail(thrown);
      // What an upstream has failed at costs nothing, also should the client leave behind the next.
      context.cancellation.sent = false;
      context.turnTo(next);
      // Should this process die, the call is charged as one of this model.
      deps.ledger.checkpoint(context.hold, next.candidate.checkpoint);
    }
  }
}
