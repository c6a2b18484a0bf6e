/** What the routing needs of an admitted call: its clock, its pauses and its deadline. */
import type { ModelTarget } from '../catalog/catalog.ts';
import type { Pause, Trial } from '../routing/trial.ts';
import type { Cancellation } from '../transport/cancellation.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';

export function trialOf(deps: GatewayDeps, context: CallContext): Trial<ModelTarget> {
  const { call, model, route, caller, estimatedInput: tokens } = context;
  const { cancellation } = context;
  return deps.catalog.routing.trial(
    { model, route, call, account: caller.account, tokens, hasFallback: context.chain?.leavesFailure === true },
    {
      random: deps.random,
      leftMs: () => context.startedMs + deps.settings.limits.wholeMs - performance.now(),
      pause: (ms) => pauseOf(ms, cancellation),
      hasEnded: () => cancellation.cancelled,
    },
  );
}

/** A pause that ends early where the call is cancelled. */
function pauseOf(ms: number, cancellation: Cancellation): Pause {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stop = () => {
    clearTimeout(timer);
    cancellation.delete(cancellable);
    end();
  };
  const timer = setTimeout(stop, ms);
  const cancellable = { cancel: stop };
  cancellation.add(cancellable);
  return { over, stop };
}
