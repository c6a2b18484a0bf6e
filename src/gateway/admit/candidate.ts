/** A model that may answer a call, with the call under its name and the most that it costs. */
import type { Call } from '../../canonical/call.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import type { Money } from '../../canonical/money.ts';
import type { Model, ModelTarget } from '../../catalog/catalog.ts';
import type { Extras } from '../../ledger/pricing/quote.ts';
import type { Route } from '../../routing/routed.ts';

export interface Candidate {
  readonly model: Model;
  readonly call: Call;
  /** The most that the call costs at this model's price. */
  readonly amount: Money;
  /** What its input costs. It is charged if the process dies while this model is called. */
  readonly checkpoint: Money;
  readonly estimatedInput: number;
  /** Input and output tokens together, for the limits of key and account. */
  readonly tokens: number;
  /** What the call costs besides its tokens. */
  readonly extras: Extras | undefined;
}

/** The candidate that is called now, and its targets in order. */
export interface Ready {
  readonly candidate: Candidate;
  readonly route: Route<ModelTarget>;
}

/** The fallback models of the requested one. */
export interface Chain {
  /** The model to try after the current one has failed with this error; `undefined`: there is none. */
  next(error: GatewayError): Ready | undefined;
  /** Throws the error of the requested model, not of its fallbacks. */
  fail(error: GatewayError): never;
  /** Whether another model may answer where the current one is unavailable. */
  readonly leavesFailure: boolean;
  /** Whether another model is tried if the current one's content filter refuses. */
  readonly leavesFilter: boolean;
}
