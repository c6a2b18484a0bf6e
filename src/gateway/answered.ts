/** Finds the upstream that answers a call: of the requested model, else of its fallbacks. */
import { GatewayError } from '../canonical/errors.ts';
import { choices } from '../ledger/pricing/quote.ts';
import type { Chain } from './admit/candidate.ts';
import { attempt } from './attempt/attempt.ts';
import type { Upstream } from './attempt/upstream.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { CachedCall } from './prepare/cached-call.ts';
import { unlessFiltered } from './prepare/filtered-reply.ts';

/** Resolves with the first target that answers. Throws the error that the client should see where none does. */
export function answered(deps: GatewayDeps, context: CallContext): Promise<Upstream> {
  if (context.cache) return cached(deps, context, context.cache);
  return asked(deps, context);
}

function asked(deps: GatewayDeps, context: CallContext): Promise<Upstream> {
  return context.chain ? throughChain(deps, context, context.chain) : attempt(deps, context);
}

/** The stored reply, or the answer of a target, which is recorded. */
async function cached(deps: GatewayDeps, context: CallContext, cache: CachedCall): Promise<Upstream> {
  return cache.reply() ?? cache.recorded(await asked(deps, context), context);
}

async function throughChain(deps: GatewayDeps, context: CallContext, chain: Chain): Promise<Upstream> {
  for (;;) {
    try {
      const upstream = await attempt(deps, context);
      // With several choices, some may have passed the filter.
      return chain.leavesFilter && choices(context.call) === 1 ? await unlessFiltered(upstream) : upstream;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || context.cancellation.cancelled) throw thrown;
      const next = chain.next(thrown) ?? chain.fail(thrown);
      // A failed attempt is not charged, even if the client leaves before the next one.
      context.cancellation.sent = false;
      context.turnTo(next);
      // If this process dies, the input is charged at this model's price.
      deps.ledger.checkpoint(context.hold, next.candidate.checkpoint);
    }
  }
}
