/** A call on its way to one target, as the steps in `prepare/` change it before it is sent. */
import type { Call } from '../canonical/call.ts';
import type { CallContext } from './call-context.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { TargetRoute } from './target-route.ts';

const NO_LOSSES: readonly string[] = [];

export class TargetCall {
  readonly deps: GatewayDeps;
  readonly context: CallContext;
  readonly route: TargetRoute;
  /** What is sent: the client's call, until a step puts another in its place. */
  call: Call;
  /** What the steps had to leave out, a sentence each. */
  losses: readonly string[] = NO_LOSSES;
  /** The calls that together answer `call`, where the target cannot answer it in one. */
  pieces: readonly Call[] | undefined;

  constructor(deps: GatewayDeps, context: CallContext, route: TargetRoute) {
    this.deps = deps;
    this.context = context;
    this.route = route;
    this.call = context.call;
  }

  /** The target speaks the client's format. */
  get isSame(): boolean {
    return this.route.dialect.name === this.context.dialect.name;
  }
}

/** A rare feature: `applies` is cheap, because every call is asked. `run` is called only where it applies. */
export interface Step {
  applies(prepared: TargetCall): boolean;
  run(prepared: TargetCall): void | Promise<void>;
}
