/** What is on sale: models, prices, targets, in which order to try them, who failed lately. */
import type { Kind } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Price } from '../canonical/price.ts';

export interface Model {
  name: string;
  kind: Kind;
  price: Price;
  priceId: string;
  /** The ceiling of a quote where the call names none. */
  maxOutputTokens: number;
  contextTokens: number | undefined;
  displayName: string;
  ownedBy: string;
  createdAt: number;
  onDisconnect: 'abort' | 'drain';
  targets: readonly ModelTarget[];
}

/** A target as the catalog knows it; the gateway completes it with the provider's row. */
export interface ModelTarget {
  /** Stable name of the pair, for health: `provider/model`. */
  id: string;
  provider: string;
  type: string;
  model: string;
  /** Absent: the provider's own. */
  baseUrl?: string;
  credentials: readonly string[];
  settings: { readonly [name: string]: string };
  priority: number;
  weight: number;
}

/** How a target did: a success ends its rest, failures in a row or a stated retry-after begin one. */
export type Observation = { ok: true } | { ok: false; error: GatewayError };

export interface Catalog {
  /** Letter case counts; `undefined` where there is no such model. */
  find(name: string): Model | undefined;
  list(): readonly Model[];
  /** The targets in the order to try them: by priority, within one by weight at random, none twice, resting ones left out.
   *  Throws `upstream_unavailable` (or `rate_limited`, where the vendors said so) with `retry-after` when all rest. */
  order(model: Model, random: () => number, now: number): ModelTarget[];
  observe(target: ModelTarget, seen: Observation, now: number): void;
  /** One of the target's credentials, in turn. */
  credential(target: ModelTarget): string | undefined;
  /** Reads models, prices and providers anew. */
  reload(): Promise<void>;
}
