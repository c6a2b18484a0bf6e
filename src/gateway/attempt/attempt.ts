/**
 * Finds the upstream that answers a call: a stored reply, or the first of the requested model's targets that answers, else of its fallbacks'.
 * Nothing has been sent to the client yet.
 */
import { GatewayError } from '../../canonical/errors.ts';
import { choices } from '../../ledger/pricing/quote.ts';
import type { Chain } from '../admit/candidate.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { CachedCall } from '../prepare/cached-call.ts';
import { unlessFiltered } from '../prepare/filtered-reply.ts';
import { publicError } from '../redaction.ts';
import { ContinuedUpstream, mayContinue, sendInView } from './continuation.ts';
import { Hedging, mayHedge } from './hedge.ts';
import { sendTo } from './send.ts';
import { trialOf } from './trial-of.ts';
import type { Upstream } from './upstream.ts';

/** The answer of the first target that gives one. Throws the error that the client should see where none does. */
export async function attempt(deps: GatewayDeps, context: CallContext): Promise<Upstream> {
  const errors: GatewayError[] = [];
  const trial = trialOf(deps, context);
  const hedging = context.model.hedge && mayHedge(context) ? new Hedging(deps, context, trial, errors) : undefined;
  const continues = context.model.continuation === 'prefill' && mayContinue(context);
  for (;;) {
    const waiting = trial.next();
    const next = waiting instanceof Promise ? await waiting : waiting;
    if (!next) break;
    context.attempt = next;
    context.asks(next);
    try {
      const upstream = await (hedging
        ? hedging.send(next)
        : continues
          ? sendInView(deps, context, next)
          : sendTo(deps, context, next.target, next.credential));
      context.attempt.answered();
      return continues ? new ContinuedUpstream(deps, context, trial, upstream) : upstream;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || context.cancellation.cancelled) next.dropped();
      if (!(thrown instanceof GatewayError)) throw thrown;
      const error = publicError(deps, context, thrown);
      if (context.cancellation.cancelled) throw error;
      // A failed attempt is not charged, even if the client leaves before the next one.
      context.cancellation.sent = false;
      trial.failed(next, thrown, error);
      if (!error.retryable) throw error;
      errors.push(error);
    }
  }
  throw errors.length === 0 ? trial.refusal() : errorToReturn(errors);
}

/**
 * Picks the error to return when every target failed: a provider's error first; a rate limit only if all targets were rate
 * limited, with the earliest reset.
 */
function errorToReturn(errors: readonly GatewayError[]): GatewayError {
  const others = errors.filter((error) => error.code !== 'rate_limited');
  const last = others.findLast((error) => error.code !== 'invalid_request') ?? others.at(-1);
  if (last) return last;
  return errors.reduce((a, b) => ((b.retryAfterSeconds ?? Infinity) < (a.retryAfterSeconds ?? Infinity) ? b : a));
}

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
