/** Models, targets and calls as far as routing goes. */
import type { Call } from '../canonical/call.ts';
import type { BulkheadLimits } from './bulkhead.ts';
import type { Credentialed } from './credentials.ts';
import type { Capabilities } from './needs.ts';
import type { Decision, Ranked, Strategy } from './order.ts';

/** What an operator allows at a provider. */
export interface ProviderLimits extends BulkheadLimits {
  /** How long a call waits for a place. */
  queueMs?: number | undefined;
}

/** A target: one provider with its own name of the model. */
export interface RoutedTarget extends Credentialed, Ranked {
  /** Absent: nothing is known, so nothing excludes it. */
  capabilities?: Capabilities;
  limits?: ProviderLimits;
  /** Callers request its failures, which predict nothing about the next call: it has no health. */
  failsOnRequest?: boolean;
}

/** A model as routing sees it. */
export interface RoutedModel<T extends RoutedTarget> {
  name: string;
  /** By priority. */
  targets: readonly T[];
  strategy: Strategy;
  /** Tries more at the same target; absent: none while another is free, some at the last. */
  retries?: number | undefined;
  /** Conversations stay with their target. */
  affinity: boolean;
  /** How long a target may take to its first token while another is free; absent: as it usually takes. */
  firstTokenMs?: number | undefined;
  /** A second target is called if the first is slow. */
  hedge?: boolean | undefined;
  /** The route of every call, where there is one target that takes all. */
  onlyRoute?: Route<T> | undefined;
}

/** Where a call may go. */
export interface Route<T> {
  /** In the order to try them. */
  targets: readonly T[];
  /** So many of them are well; the others are tried if all of those fail. */
  ready: number;
  /** Absent where there was nothing to decide. */
  decision?: Decision<T>;
  /** The conversation, and the target that it was bound to. */
  key?: string | undefined;
}

/** A call that is to be brought to a target. */
export interface RoutedCall<T extends RoutedTarget> {
  readonly model: RoutedModel<T>;
  readonly route: Route<T>;
  readonly call: Call;
  readonly account: string;
  /** Of its estimated input. */
  readonly tokens: number;
  /** Another model may answer where all targets of this one fail. */
  readonly hasFallback?: boolean;
}
