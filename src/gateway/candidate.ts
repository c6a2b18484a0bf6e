/** A model that may answer a call, with what it needs for that: the call in its name, where it may go, what it costs at most. */
import type { Call } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import type { Extras } from '../ledger/quote.ts';
import type { Route } from '../routing/routed.ts';

export interface Candidate {
  readonly model: Model;
  readonly call: Call;
  /** The most that the call costs at this model's price. */
  readonly amount: Money;
  /** What its input costs: charged where the process dies while the model is asked. */
  readonly checkpoint: Money;
  readonly estimatedInput: number;
  /** Tokens of input and output together, for the limits of key and account. */
  readonly tokens: number;
  /** What the call asks for beside its tokens. */
  readonly extras: Extras | undefined;
}

/** A candidate that is asked now, and where, in order. */
export interface Ready {
  readonly candidate: Candidate;
  readonly route: Route<ModelTarget>;
}

/** The models that may answer in the place of the one asked for. */
export interface Chain {
  /** The model to try after the current one has failed so; `undefined`: there is none. */
  next(error: GatewayError): Ready | undefined;
  /** Throws what the model that was asked for failed with: what became of the others nobody asked. */
  fail(error: GatewayError): never;
  /** Whether another model may answer where the current one is unavailable. */
  readonly leavesFailure: boolean;
  /** Whether the current model's filter is a reason to ask another. */
  readonly leavesFilter: boolean;
}
