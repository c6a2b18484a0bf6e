/** Leads one call from target to target: credentials, places, probes and retries, until one answers or none is left. */
import { GatewayError } from '../canonical/errors.ts';
import { answerLimitMs } from './attempt-limits.ts';
import type { Bulkhead, Waiter } from './bulkhead.ts';
import { hedgeDelayMs } from './hedge-delay.ts';
import { DEFAULT_RETRIES, isRepeatable, retryDelayMs } from './retry.ts';
import type { RoutedCall, RoutedTarget } from './routed.ts';
import type { RoutingState } from './routing-state.ts';
import { TrackedAttempt } from './tracked-attempt.ts';

/** A running timer that can be stopped early. */
export interface Pause {
  readonly over: Promise<void>;
  /** Nobody waits for its end any more. */
  stop(): void;
}

/** What a trial needs to know about its call while it runs. */
export interface TrialOptions {
  /** In [0, 1). */
  random(): number;
  /** Milliseconds until the call has to be over. */
  leftMs(): number;
  /** A pause of so long, which ends at once where the client leaves. */
  pause(ms: number): Pause;
  /** Nobody waits for the call any more. */
  hasEnded(): boolean;
}

/** A place for a call: until when it waits is the provider's `queueMs`. */
const DEFAULT_QUEUE_MS = 10_000;
/** Seconds after which a caller may try again where no place was free. */
const FULL_RETRY_SECONDS = 1;

type Next<T extends RoutedTarget> = TrackedAttempt<T> | undefined;

/** The attempts of one call, one after another. Call `next()` until an attempt succeeds or it returns `undefined`. */
export class Trial<T extends RoutedTarget> {
  private readonly state: RoutingState<T>;
  private readonly request: RoutedCall<T>;
  private readonly options: TrialOptions;
  /** The next of the route's targets. */
  private index = 0;
  /** Of the target that was tried last: its credentials that have been tried, and how often it was tried again. */
  private current: T | undefined;
  private tried: (string | undefined)[] = [];
  private retries = 0;
  private error: GatewayError | undefined;
  /** A target that was called concurrently with another. */
  private hedged: T | undefined;
  /** Targets that had no place, and those that somebody else was trying. */
  private full: T[] | undefined;
  private skipped: T[] | undefined;
  private wasFull = false;
  /** It waited for a place at a target that somebody else tries after failures. */
  private isOpen = false;
  /** The target in whose queue the call has been last. */
  private waitedFor: T | undefined;

  constructor(state: RoutingState<T>, request: RoutedCall<T>, options: TrialOptions) {
    this.state = state;
    this.request = request;
    this.options = options;
  }

  /** The next attempt; `undefined`: none is left. A promise where it has to wait. */
  next(): Next<T> | Promise<Next<T>> {
    const now = this.state.now();
    if (this.error && this.current) {
      const other = this.otherCredential(this.current, this.error, now);
      if (other) return other;
      const again = this.again(this.current, this.error, this.request.model.retries ?? 0, now);
      if (again) return again;
    }
    const { targets, ready } = this.request.route;
    while (this.index < targets.length) {
      const isLast = this.index >= ready;
      const target = targets[this.index++]!;
      const begun = target === this.hedged ? undefined : this.begin(target, now, isLast);
      if (begun) return begun;
    }
    return this.full || this.skipped ? this.lastResort(now) : this.lastRetry(now);
  }

  /** The attempt has failed before it answered. `shown`: the error without the operator's secrets. */
  failed(attempt: TrackedAttempt<T>, error: GatewayError, shown?: GatewayError): void {
    attempt.failed(error, shown);
    this.error = error;
  }

  /** Milliseconds until a second target may be called too. Counts the call: a share of the calls may be hedged. */
  hedgeAfterMs({ target }: TrackedAttempt<T>): number {
    const { state, request } = this;
    state.hedgeBudget(request.model).called(state.now());
    return hedgeDelayMs(request.call, state.health(target).firstTokens, state.wholeTimes(request.model));
  }

  /** An attempt concurrent with `first`: at the next target that is free now, else with another credential. `undefined`: there is none. */
  hedge(first: TrackedAttempt<T>): TrackedAttempt<T> | undefined {
    const { state, request } = this;
    const { targets, ready } = request.route;
    const now = state.now();
    if (!state.hedgeBudget(request.model).take(now)) return undefined;
    for (let index = this.index; index < ready; index++) {
      const target = targets[index]!;
      if (state.health(target).needsLease || state.credentials.unusable(target, now)) continue;
      const credential = this.chosen(target, state.bulkhead(target), now);
      const second = credential === null ? undefined : this.beside(target, credential, now);
      if (!second) continue;
      this.hedged = target;
      return second;
    }
    const { target } = first;
    const other = state.credentials.choose(target, now, this.tried, request.tokens);
    const second = other === undefined ? undefined : this.beside(target, other, now);
    if (second) this.tried.push(other);
    return second;
  }

  private beside(target: T, credential: string | undefined, now: number): TrackedAttempt<T> | undefined {
    const { state, request } = this;
    const bulkhead = state.bulkhead(target);
    if (bulkhead && !bulkhead.enter(credential ?? '', request, now)) return undefined;
    state.credentials.spend(target, credential, request.tokens);
    return this.tracked(target, credential, false, now);
  }

  /** Whether another target may answer. If not, the long limits apply. */
  private get hasOther(): boolean {
    return this.index < this.request.route.ready || this.request.hasFallback === true;
  }

  /** Why nothing was tried at all. */
  refusal(): GatewayError {
    const { name } = this.request.model;
    const message = this.wasFull
      ? `All places at the providers of the model "${name}" are taken. Please try again later.`
      : `No upstream of the model "${name}" is available after failures. Please try again later.`;
    return new GatewayError('upstream_unavailable', message, { retryAfterSeconds: FULL_RETRY_SECONDS });
  }

  /** A credential that the provider refuses or limits is not the target's failure while there is another. */
  private otherCredential(target: T, error: GatewayError, now: number): Next<T> {
    if (error.code !== 'rate_limited' && !error.credentialRefused) return undefined;
    const { tokens } = this.request;
    const credential = this.state.credentials.choose(target, now, this.tried, tokens);
    if (credential === undefined) return undefined;
    const bulkhead = this.state.bulkhead(target);
    if (bulkhead && !bulkhead.enter(credential, this.request, now)) {
      // Its place is waited for once: the credential may be refused as well.
      if (this.waitedFor !== target) this.hasNoPlace(target);
      return undefined;
    }
    this.state.credentials.spend(target, credential, tokens);
    return this.attempt(target, credential, false, now);
  }

  /** The same target once more, after a pause. */
  private again(target: T, error: GatewayError, most: number, now: number): Promise<Next<T>> | undefined {
    if (this.retries >= most || target.failsOnRequest || !isRepeatable(error)) return undefined;
    // While another target is free it takes the calls that this one limits.
    if (error.code === 'rate_limited' && this.hasOther) return undefined;
    const delay = retryDelayMs(error, this.retries + 1, this.options.random);
    if (delay >= this.options.leftMs() || !this.state.budget(target.provider).take(now)) return undefined;
    this.retries++;
    return this.afterPause(target, delay);
  }

  private async afterPause(target: T, delay: number): Promise<Next<T>> {
    await this.options.pause(delay).over;
    if (this.options.hasEnded()) return undefined;
    const now = this.state.now();
    const retries = this.retries;
    const begun = await this.begin(target, now, true);
    this.retries = retries;
    return begun ?? this.next();
  }

  /** `undefined`: it may not be tried now. */
  private begin(target: T, now: number, isLast: boolean): Next<T> | Promise<Next<T>> {
    const { state } = this;
    const health = state.health(target);
    const unusable = state.credentials.unusable(target, now);
    const isRefused = unusable?.limited === false && !unusable.guessed;
    const isProbe = !target.failsOnRequest && (health.needsLease || (isRefused && isLast));
    if (isProbe && !health.takeLease(now, isLast)) {
      this.skipped ??= [];
      if (!isLast) this.skipped.push(target);
      return undefined;
    }
    if (isProbe && !isLast && state.lease) return this.beginShared(target);
    return this.enter(target, now, isProbe);
  }

  /** Of several processes one probes. */
  private async beginShared(target: T): Promise<Next<T>> {
    const health = this.state.health(target);
    const isMine = await this.state.lease?.take(target.id, health.probeIntervalMs);
    const now = this.state.now();
    const begun = isMine === false ? undefined : this.enter(target, now, true);
    if (begun) return begun;
    if (isMine === false) {
      health.yieldProbe(now);
      this.skipped ??= [];
      this.skipped.push(target);
    }
    return this.next();
  }

  private enter(target: T, now: number, isProbe: boolean): Next<T> {
    const { tokens } = this.request;
    const bulkhead = this.state.bulkhead(target);
    const credential = this.chosen(target, bulkhead, now);
    if (bulkhead && (credential === null || !bulkhead.enter(credential ?? '', this.request, now))) {
      if (isProbe) this.state.health(target).giveBack();
      this.hasNoPlace(target);
      return undefined;
    }
    this.state.credentials.spend(target, credential ?? undefined, tokens);
    if (this.tried.length > 0) this.tried = [];
    this.retries = 0;
    return this.attempt(target, credential ?? undefined, isProbe, now);
  }

  private hasNoPlace(target: T): void {
    this.full ??= [];
    this.full.push(target);
  }

  /** One that may be used and has a place; `null`: none has. */
  private chosen(target: T, bulkhead: Bulkhead | undefined, now: number): string | undefined | null {
    if (bulkhead && target.credentials.length > 1) return this.chosenWithPlace(target, bulkhead, now);
    return this.state.credentials.choose(target, now, NONE, this.request.tokens);
  }

  private chosenWithPlace(target: T, bulkhead: Bulkhead, now: number): string | undefined | null {
    const { credentials } = this.state;
    const { tokens } = this.request;
    const withoutPlace = target.credentials.filter((one) => !bulkhead.hasPlace(one, tokens, now));
    if (withoutPlace.length === target.credentials.length) return null;
    return credentials.choose(target, now, withoutPlace, tokens) ?? credentials.choose(target, now, NONE, tokens);
  }

  private attempt(target: T, credential: string | undefined, isProbe: boolean, now: number): TrackedAttempt<T> {
    this.current = target;
    this.tried.push(credential);
    this.error = undefined;
    return this.tracked(target, credential, isProbe, now);
  }

  private tracked(target: T, credential: string | undefined, isProbe: boolean, now: number): TrackedAttempt<T> {
    const { state, request } = this;
    const { call, model } = request;
    state.budget(target.provider).called(now);
    const limitMs = this.hasOther
      ? answerLimitMs(call, model.firstTokenMs, state.health(target).firstTokens, state.wholeTimes(model))
      : undefined;
    return new TrackedAttempt(state, request, target, credential, isProbe, limitMs, now);
  }

  /** Targets without a place are waited for, those that somebody else was trying are tried now. */
  private async lastResort(now: number): Promise<Next<T>> {
    const { full = [], skipped = [] } = this;
    this.full = undefined;
    this.skipped = undefined;
    for (const target of skipped) {
      const begun = await this.begin(target, now, true);
      if (begun) return begun;
    }
    const waitedFor = full.length > 0 ? full : (this.full ?? []);
    this.full = undefined;
    for (const target of waitedFor) {
      const begun = await this.queued(target);
      if (begun || this.options.hasEnded()) return begun;
    }
    this.wasFull = waitedFor.length > 0 && !this.isOpen;
    return this.lastRetry(this.state.now());
  }

  /** Waits for a place at this target. */
  private async queued(target: T): Promise<Next<T>> {
    const { state, request, options } = this;
    const bulkhead = state.bulkhead(target);
    if (!bulkhead) return this.begin(target, state.now(), true);
    const queueMs = Math.min(target.limits?.queueMs ?? DEFAULT_QUEUE_MS, options.leftMs());
    if (queueMs <= 0) return undefined;
    this.waitedFor = target;
    // A credential that is refused or limited often has free places, because it is not used.
    const credentials = state.credentials.usable(target, state.now());
    const credential = await waitForPlace(bulkhead, credentials, request, queueMs, options, state.now);
    if (credential === undefined) return undefined;
    const now = state.now();
    const health = state.health(target);
    // It may have opened meanwhile: then one call at a time tries it.
    const isProbe = !target.failsOnRequest && health.needsLease;
    const isRefused = isProbe && !health.takeLease(now, true);
    if (isRefused || options.hasEnded()) {
      if (isProbe && !isRefused) health.giveBack();
      this.isOpen ||= isRefused;
      bulkhead.leave(credential, request, 0, now);
      return undefined;
    }
    this.tried = [];
    this.retries = 0;
    return this.attempt(target, credential === '' ? undefined : credential, isProbe, now);
  }

  /** No target is left: the last one may be called again. */
  private lastRetry(now: number): Promise<Next<T>> | undefined {
    const { current, error, request } = this;
    if (!current || !error) return undefined;
    const usual = request.hasFallback ? 0 : DEFAULT_RETRIES;
    return this.again(current, error, request.model.retries ?? usual, now);
  }
}

const NONE: readonly string[] = [];

/** The credential at which a place became free in time; '' where the provider has none. */
async function waitForPlace<T extends RoutedTarget>(
  bulkhead: Bulkhead,
  credentials: readonly string[],
  { account, tokens }: RoutedCall<T>,
  queueMs: number,
  options: TrialOptions,
  now: () => number,
): Promise<string | undefined> {
  let isSettled = false;
  let isWoken = false;
  let found: string | undefined;
  let wake = () => {};
  const waiter: Waiter = {
    account,
    tokens,
    credentials: credentials.length > 0 ? credentials : [''],
    settle(credential) {
      isSettled = true;
      found = credential;
      wake();
    },
    wake() {
      isWoken = true;
      wake();
    },
  };
  let left = queueMs;
  bulkhead.queue(waiter, now());
  while (!isSettled) {
    if (left <= 0 || options.hasEnded()) {
      bulkhead.giveUp(waiter);
      break;
    }
    // A place may become free by a call that ends, which settles, or by new tokens: only the next call has a timer, since
    // a thousand that wait would keep the processor busy with it.
    isWoken = false;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const ms = Math.min(left, Math.max(bulkhead.tokensMs(waiter, now()), 1));
    const before = options.leftMs();
    const pause = options.pause(ms);
    await Promise.race([woken, pause.over]);
    pause.stop();
    left -= Math.max(isWoken ? 0 : ms, before - options.leftMs());
    bulkhead.admitWaiting(now());
  }
  return found;
}
