/** What routing remembers of targets, credentials, providers and conversations, in this process. */
import { type Affinity, createAffinity } from './affinity.ts';
import { Bulkhead } from './bulkhead.ts';
import type { CooldownChange } from './cooldown-change.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import { type ProbeLease, TargetHealth } from './health.ts';
import { type HasHeaders, remainingLimits } from './remaining-limits.ts';
import { RetryBudget } from './retry.ts';
import type { RoutedCall, RoutedModel, RoutedTarget } from './routed.ts';
import { TimeHistogram } from './timings.ts';

/** All are optional. Callbacks must not throw. */
export interface RoutingOptions {
  /** A credential (its place in the provider's list, from 1) was refused and is not used for a while. */
  credentialRefused?: ((provider: string, place: number, seconds: number) => void) | undefined;
  /** A target or a credential goes into cooldown, or comes out of it. */
  cooldown?: ((change: CooldownChange) => void) | undefined;
  /** Shares probes among processes. */
  lease?: ProbeLease | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

/** If a provider sends no headers about limits, this many responses are skipped before they are read again. */
const RESPONSES_WITHOUT_LIMITS = 64;

/** What this process has learned from its calls. Lost at a restart; `keepOnly` drops what the catalog does not have any more. */
export class RoutingState<T extends RoutedTarget> {
  readonly credentials: Credentials;
  readonly affinity: Affinity = createAffinity();
  readonly lease: ProbeLease | undefined;
  private readonly cooldown: RoutingOptions['cooldown'];
  readonly now: () => number;
  private readonly targets = new Map<string, TargetHealth>();
  private readonly bulkheads = new Map<string, Bulkhead>();
  private readonly budgets = new Map<string, RetryBudget>();
  /** How many calls of a model are hedged, by its first target. */
  private readonly hedges = new Map<string, RetryBudget>();
  /** How long whole responses of a model take, by its first target: of the names that a wildcard matches there are any number. */
  private readonly wholes = new Map<string, TimeHistogram>();
  /** How many responses of a target are still to be skipped. */
  private readonly silent = new Map<string, number>();

  constructor({ credentialRefused, cooldown, lease, now = Date.now }: RoutingOptions) {
    this.credentials = createCredentials({ refused: credentialRefused, cooldown });
    this.cooldown = cooldown;
    this.lease = lease;
    this.now = now;
  }

  health(target: T): TargetHealth {
    let health = this.targets.get(target.id);
    if (!health) {
      const { cooldown } = this;
      const { id, provider } = target;
      health = new TargetHealth(
        cooldown && ((reason, ms) => cooldown({ provider, target: id, reason, seconds: ms / 1000 })),
      );
      this.targets.set(target.id, health);
    }
    return health;
  }

  /** `undefined`: the provider is not limited. */
  bulkhead({ provider, limits }: T): Bulkhead | undefined {
    if (!limits) return undefined;
    let bulkhead = this.bulkheads.get(provider);
    if (!bulkhead) {
      bulkhead = new Bulkhead(limits);
      this.bulkheads.set(provider, bulkhead);
    }
    return bulkhead;
  }

  budget(provider: string): RetryBudget {
    return madeOnce(this.budgets, provider, RetryBudget);
  }

  /** At most a tenth of a model's calls, as with retries. */
  hedgeBudget({ targets }: RoutedModel<T>): RetryBudget {
    return madeOnce(this.hedges, targets[0]?.id ?? '', RetryBudget);
  }

  wholeTimes({ targets }: RoutedModel<T>): TimeHistogram {
    return madeOnce(this.wholes, targets[0]?.id ?? '', TimeHistogram);
  }

  /** Removes what is no longer available, and limits that may have changed. Active calls end without a change to the new ones. */
  keepOnly(models: readonly RoutedModel<T>[]): void {
    const targets = models.flatMap((model) => model.targets);
    const ids = new Set(targets.map(({ id }) => id));
    const providers = new Map(targets.map((target) => [target.provider, target]));
    for (const id of this.targets.keys()) if (!ids.has(id)) this.targets.delete(id);
    for (const id of this.silent.keys()) if (!ids.has(id)) this.silent.delete(id);
    for (const provider of this.budgets.keys()) if (!providers.has(provider)) this.budgets.delete(provider);
    for (const id of this.hedges.keys()) if (!ids.has(id)) this.hedges.delete(id);
    for (const id of this.wholes.keys()) if (!ids.has(id)) this.wholes.delete(id);
    for (const [provider, bulkhead] of this.bulkheads) {
      const limits = providers.get(provider)?.limits;
      if (!limits) this.bulkheads.delete(provider);
      bulkhead.limit(limits ?? {}, this.now());
    }
    this.credentials.keepOnly(targets);
  }

  /** Reads the provider's remaining limits from the headers of a response. */
  saw(target: T, credential: string | undefined, response: HasHeaders): void {
    const skips = this.silent.get(target.id) ?? 0;
    if (skips > 0) {
      this.silent.set(target.id, skips - 1);
      return;
    }
    const left = remainingLimits(response);
    if (left) this.credentials.remains(target, credential, left, this.now());
    else this.silent.set(target.id, RESPONSES_WITHOUT_LIMITS);
  }

  /** An attempt has ended: its place is free. `tokens`: what it took in truth. */
  leave({ provider }: T, credential: string | undefined, call: RoutedCall<T>, tokens: number | undefined): void {
    this.bulkheads.get(provider)?.leave(credential ?? '', call, tokens, this.now());
  }
}

/** The value of this key, created on first use. It takes the class and not a function: every call uses it several times. */
function madeOnce<V>(all: Map<string, V>, key: string, Kind: new () => V): V {
  let found = all.get(key);
  if (!found) {
    found = new Kind();
    all.set(key, found);
  }
  return found;
}
