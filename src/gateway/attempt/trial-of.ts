/** What the routing needs of an admitted call: its clock, its pauses and its deadline. */
import type { Call } from '../../canonical/call.ts';
import type { Model, ModelTarget } from '../../catalog/catalog.ts';
import type { Route, RoutedCall } from '../../routing/routed.ts';
import type { TrackedAttempt } from '../../routing/tracked-attempt.ts';
import type { Pause, Trial, TrialOptions } from '../../routing/trial.ts';
import type { Cancellation } from '../../transport/cancellation.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';

/** One target that the routing chose for the call, watched until it answers or fails. */
export type Attempt = TrackedAttempt<ModelTarget>;

export function trialOf(deps: GatewayDeps, context: CallContext): Trial<ModelTarget> {
  const terms = new Terms(deps, context);
  return deps.catalog.routing.trial(terms, terms);
}

/** The request to the routing and its callbacks: one object instead of two, without a function for each callback. */
class Terms implements RoutedCall<ModelTarget>, TrialOptions {
  readonly model: Model;
  readonly route: Route<ModelTarget>;
  readonly call: Call;
  readonly account: string;
  readonly tokens: number;
  readonly hasFallback: boolean;
  readonly random: () => number;
  readonly #deps: GatewayDeps;
  readonly #context: CallContext;

  constructor(deps: GatewayDeps, context: CallContext) {
    this.model = context.model;
    this.route = context.route;
    this.call = context.call;
    this.account = context.caller.account;
    this.tokens = context.estimatedInput;
    this.hasFallback = context.chain?.leavesFailure === true;
    this.random = deps.random;
    this.#deps = deps;
    this.#context = context;
  }

  leftMs(): number {
    return this.#context.startedMs + this.#deps.settings.limits.wholeMs - performance.now();
  }

  pause(ms: number): Pause {
    return pauseOf(this.#deps, ms, this.#context.cancellation);
  }

  hasEnded(): boolean {
    return this.#context.cancellation.cancelled;
  }
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
