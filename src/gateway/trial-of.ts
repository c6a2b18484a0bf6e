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
      pause: (ms) => pauseOf(deps, ms, cancellation),
      hasEnded: () => cancellation.cancelled,
    },
  );
}

function usualWait(ms: number, over: () => void): () => void {
  const timer = setTimeout(over, ms);
  return () => clearTimeout(timer);
}

/** A pause that ends early where the call is cancelled. */
export function pauseOf(
  { wait = usualWait }: Pick<GatewayDeps, 'wait'>,
  ms: number,
  cancellation: Cancellation,
): Pause {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stop = () => {
    cancelWait();
    cancellation.delete(cancellable);
    end();
  };
  const cancelWait = wait(ms, stop);
  const cancellable = { cancel: stop };
  cancellation.add(cancellable);
  return { over, stop };
}
