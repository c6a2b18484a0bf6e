/** One attempt at a target: what it shows of the target's health, and the place it takes there. */
import type { GatewayError } from '../canonical/errors.ts';
import { replyKey } from './affinity.ts';
import { isTargetFailure, type TargetHealth } from './health.ts';
import type { HasHeaders } from './remaining-limits.ts';
import type { RoutedCall, RoutedTarget } from './routed.ts';
import type { RoutingState } from './routing-state.ts';

/** How an attempt ended. `cancelled`: the client left, or another target answered first. */
export type AttemptOutcome = 'running' | 'ok' | 'failed' | 'cancelled';

/** What is known of an attempt. Times in milliseconds since 1970; 0: not yet. */
export interface AttemptRecord {
  /** `type`: of the provider; `model`: its name of the model. */
  readonly target: {
    readonly id: string;
    readonly provider: string;
    readonly type?: string;
    readonly model?: string;
  };
  /** Secret: never shown completely. */
  readonly credential: string | undefined;
  readonly startedAt: number;
  /** The first token of a stream, or the complete response. */
  readonly answeredAt: number;
  readonly endedAt: number;
  /** The HTTP status of the response; 0: none came. */
  readonly status: number;
  readonly outcome: AttemptOutcome;
  readonly errorCode: string | undefined;
  /** Without the operator's secrets and addresses. */
  readonly message: string | undefined;
}

/** Follows the attempts of a call. */
export interface AttemptListener {
  attemptStarted(attempt: AttemptRecord): void;
  attemptAnswered(attempt: AttemptRecord): void;
  attemptEnded(attempt: AttemptRecord): void;
}

/**
 * One attempt at a target, which tells the state what becomes of it. Exactly one of `failed`, `ended`, `dropped` and `outrun` ends it; later
 * calls change nothing. Times are milliseconds since 1970.
 */
export class TrackedAttempt<T extends RoutedTarget> implements AttemptRecord {
  readonly target: T;
  readonly credential: string | undefined;
  /** Until the first token, or the headers of a whole response; `undefined`: the general limits alone. */
  readonly limitMs: number | undefined;
  /** The target was open when it started. */
  readonly isProbe: boolean;
  readonly startedAt: number;
  /** When the response started; 0: not yet. */
  beganAt = 0;
  answeredAt = 0;
  endedAt = 0;
  status = 0;
  outcome: AttemptOutcome = 'running';
  errorCode: string | undefined;
  message: string | undefined;
  private readonly state: RoutingState<T>;
  private readonly request: RoutedCall<T>;
  private readonly health: TargetHealth;
  private listener: AttemptListener | undefined;

  constructor(
    state: RoutingState<T>,
    request: RoutedCall<T>,
    target: T,
    credential: string | undefined,
    isProbe: boolean,
    limitMs: number | undefined,
    startedAt: number,
  ) {
    this.state = state;
    this.request = request;
    this.target = target;
    this.credential = credential;
    this.isProbe = isProbe;
    this.limitMs = limitMs;
    this.startedAt = startedAt;
    this.health = state.health(target);
    if (!target.failsOnRequest) this.health.inFlight++;
  }

  /** It is about to be sent. One that is dropped before is not reported. */
  follow(listener: AttemptListener): void {
    this.listener = listener;
    listener.attemptStarted(this);
  }

  saw(response: HasHeaders & { readonly status: number }): void {
    this.status = response.status;
    this.state.saw(this.target, this.credential, response);
  }

  /** The first token of a stream that is not passed on before it is complete. */
  began(): void {
    if (this.beganAt === 0) this.beganAt = this.state.now();
  }

  /** The first token, or the complete response, has arrived. */
  answered(): void {
    if (this.outcome !== 'running' || this.answeredAt !== 0) return;
    const { state, target, health, isProbe } = this;
    const now = state.now();
    this.answeredAt = this.beganAt || now;
    if (!target.failsOnRequest) {
      state.credentials.succeeded(target, this.credential, now);
      health.succeeded(now, isProbe);
      if (isProbe) health.giveBack();
      this.measure(this.answeredAt);
    }
    this.listener?.attemptAnswered(this);
  }

  /** The time until the first token, or of a non-streaming response. */
  private measure(now: number): void {
    const { health } = this;
    const { call, model } = this.request;
    const took = Math.max(0, now - this.startedAt);
    if (call.stream) {
      health.firstToken.add(took, now);
      health.firstTokens.add(took);
    } else {
      health.whole.add(took, now);
      this.state.wholeTimes(model).add(took);
    }
  }

  /** It failed before it answered. `shown`: the error without the operator's secrets. */
  failed(error: GatewayError, shown?: GatewayError): void {
    if (this.outcome !== 'running') return;
    this.over('failed', 0, error, shown);
    const { state, target, health, isProbe, endedAt } = this;
    const { key } = this.request.route;
    if (key !== undefined) state.affinity.drop(key, target.id);
    if (!target.failsOnRequest) {
      state.credentials.failed(target, this.credential, error, endedAt);
      if (isTargetFailure(error)) health.failed(endedAt, isProbe);
      if (isProbe) health.giveBack();
    }
    this.listener?.attemptEnded(this);
  }

  /** It has no result and does not count for the target: the client disconnected. */
  dropped(): void {
    if (this.outcome !== 'running') return;
    this.over('cancelled', undefined);
    if (this.isProbe) this.health.giveBack();
    this.listener?.attemptEnded(this);
  }

  /**
   * A target that was called later answered first. This one would have taken even longer: without its time the figures would have no slow
   * calls, and more and more would be hedged.
   */
  outrun(): void {
    if (this.outcome === 'running' && !this.target.failsOnRequest) this.measure(this.state.now());
    this.dropped();
  }

  /** The call is over. `error`: it broke off, without the operator's secrets; `tokens`: of its input and output, where they are known. */
  ended(error: GatewayError | undefined, output: number, tokens: number | undefined): void {
    if (this.outcome !== 'running') return;
    if (this.answeredAt === 0) {
      this.over(error ? 'failed' : 'cancelled', undefined, error, error);
      if (this.isProbe) this.health.giveBack();
    } else {
      this.over(error ? 'failed' : 'ok', tokens, error, error);
      const { target, health, answeredAt, endedAt } = this;
      const { call, route } = this.request;
      if (route.key !== undefined) this.bind(route.key, error !== undefined);
      const counts = !target.failsOnRequest;
      if (counts && error && isTargetFailure(error)) health.brokeOff(endedAt);
      else if (counts && call.stream && output > 1) health.perToken.add((endedAt - answeredAt) / output, endedAt);
    }
    this.listener?.attemptEnded(this);
  }

  /** Calls that continue this reply are bound to its target too. */
  private bind(key: string, hasFailed: boolean): void {
    const { affinity } = this.state;
    const { id } = this.target;
    if (hasFailed) {
      affinity.drop(key, id);
      return;
    }
    affinity.bind(key, id, this.endedAt);
    const reply = replyKey(this.request.call, this.request.account);
    if (reply !== undefined) affinity.bind(reply, id, this.endedAt);
  }

  /** Its place is free. `tokens`: what it took in truth. */
  private over(outcome: AttemptOutcome, tokens: number | undefined, error?: GatewayError, shown?: GatewayError): void {
    const { state, target } = this;
    this.outcome = outcome;
    this.endedAt = state.now();
    this.errorCode = error?.code;
    this.message = shown?.message;
    if (target.limits) state.leave(target, this.credential, this.request, tokens);
    if (!target.failsOnRequest) this.health.left();
  }
}
