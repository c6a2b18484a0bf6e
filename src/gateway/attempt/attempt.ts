/** Tries a call's targets one after another until one answers. Nothing has been sent to the client yet. */
import { GatewayError } from '../../canonical/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
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
