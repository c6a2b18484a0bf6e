/** Which target answers a call: the order of its model's targets, the health of each, and what an admin sees and does of it. */
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { affinityKey } from './affinity.ts';
import type { CoolingCredential } from './credentials.ts';
import type { Phase, Standing, TargetHealth } from './health.ts';
import { lacks, type Needs, needsOf } from './needs.ts';
import { decide } from './order.ts';
import type { Route, RoutedCall, RoutedModel, RoutedTarget } from './routed.ts';
import { type RoutingOptions, RoutingState } from './routing-state.ts';
import { Trial, type TrialOptions } from './trial.ts';

/** A call to be routed. */
export interface RoutingRequest<T extends RoutedTarget> {
  /** Absent for tasks: they are no conversations, and nothing is known of their needs. */
  call?: Call | undefined;
  account: string;
  /** Of the estimated input. */
  tokens: number;
  headers?: { get(name: string): string | null | undefined } | undefined;
  /** What the call would cost at a target; for the strategy `price`. */
  costAt?: ((target: T) => number | undefined) | undefined;
  /** What the call needs beyond what it shows itself. */
  needs?: Partial<Needs> | undefined;
  random(): number;
}

/** The state of a target, for admins. Times in milliseconds since 1970. */
export interface TargetState {
  id: string;
  provider: string;
  model: string;
  phase: Phase;
  calls: number;
  errorRate: number;
  inFlight: number;
  firstTokenMs?: number;
  wholeMs?: number;
  tokenMs?: number;
  nextProbeAt?: number;
  coolingCredentials: CoolingCredential[];
  queued: number;
}

/** Decides where calls go, and learns from how they end. */
export interface Routing<T extends RoutedTarget> {
  /**
   * The targets in the order to try them. Throws `invalid_request` where none can serve the call, `rate_limited` where the rate limits of
   * all are used up, `upstream_unavailable` where all have failed and each is being tried by another call.
   */
  route(model: RoutedModel<T>, request: RoutingRequest<T>): Route<T>;
  /** Leads the call along its route. */
  trial(request: RoutedCall<T>, options: TrialOptions): Trial<T>;
  readonly state: RoutingState<T>;
  targetState(target: T & { model: string }): TargetState;
  /** An admin takes a target out until this time, or declares it well. */
  coolDown(target: T, until: number): void;
  reset(target: T): void;
}

/**
 * Makes a routing that knows nothing yet: every target is healthy until its calls fail. Its state (health, cooldowns, affinity) is that of
 * this process and lasts as long as the object. `options.now` returns milliseconds since 1970. Does not throw.
 *
 * @example
 * const routing = createRouting<ModelTarget>({ now: () => Date.now() });
 * const { targets } = routing.route(model, { account: 'acc_1', tokens: 120, call, random: Math.random });
 */
export function createRouting<T extends RoutedTarget>(options: RoutingOptions = {}): Routing<T> {
  const state = new RoutingState<T>(options);

  function standing(target: T, now: number, random: () => number): Standing | 'limited' {
    if (target.failsOnRequest) return 'ready';
    const unusable = state.credentials.unusable(target, now);
    if (unusable) return unusable.limited && !unusable.guessed ? 'limited' : 'open';
    return state.health(target).standing(now, random);
  }

  function isFree(target: T, now: number): boolean {
    return !state.health(target).isLeased(now);
  }

  function route(model: RoutedModel<T>, request: RoutingRequest<T>): Route<T> {
    const now = state.now();
    const { onlyRoute } = model;
    // Wishes of a caller may have left other targets than the operator's.
    if (onlyRoute?.targets === model.targets && request.needs === undefined) {
      const only = onlyRoute.targets[0]!;
      if (standing(only, now, request.random) === 'ready') return onlyRoute;
    }
    return routeOfSeveral(model, request, now);
  }

  function routeOfSeveral(model: RoutedModel<T>, request: RoutingRequest<T>, now: number): Route<T> {
    const { call, account, random } = request;
    const isAlone = model.targets.length === 1;
    const key = call && model.affinity && !isAlone ? affinityKey(call, account, request.headers) : undefined;
    let needs: Needs | undefined;
    const decision = decide(model.targets, {
      strategy: model.strategy,
      bound: key === undefined ? undefined : state.affinity.find(key, now),
      lacks({ capabilities }) {
        if (!call || (!capabilities && request.needs?.dataPolicy === undefined)) return undefined;
        needs ??= { ...needsOf(call, request.tokens), ...request.needs };
        return lacks(capabilities ?? {}, needs);
      },
      standing: (target) => standing(target, now, random),
      score: model.strategy === 'weighted' ? unscored : scores(model, request, now),
      random,
    });
    const targets = decision.choices.map(({ target }) => target);
    if (targets.length === 0) throw noTargetError(model, decision.limited, decision.excluded, now);
    if (decision.ready === 0 && !targets.some((target) => isFree(target, now))) throw allOpenError(model);
    return { targets, ready: decision.ready, decision, key };
  }

  /** How much each target has to do, in time. One that nothing is known of takes as long as the others on average. */
  function scores(model: RoutedModel<T>, request: RoutingRequest<T>, now: number): (target: T) => number | undefined {
    if (model.strategy === 'price') return (target) => request.costAt?.(target);
    const timeOf = (target: T) => {
      const health = state.health(target);
      return (model.strategy === 'throughput' ? health.perToken : timesOf(request.call, health)).aged(now);
    };
    let average: number | undefined;
    const averageTime = () => {
      const known = model.targets.flatMap((target) => timeOf(target) ?? []);
      return known.length === 0 ? 1 : known.reduce((sum, one) => sum + one, 0) / known.length;
    };
    return (target) => {
      const health = state.health(target);
      let time = timeOf(target);
      if (time === undefined) time = average ??= averageTime();
      // A target that fails fast is not a fast one.
      return time * (health.inFlight + 1) * (1 + FAILURE_WEIGHT * health.window.errorRate(now));
    };
  }

  function noTargetError(
    model: RoutedModel<T>,
    limited: readonly T[],
    excluded: readonly { reason: string }[],
    now: number,
  ): GatewayError {
    if (limited.length === 0) {
      const why = [...new Set(excluded.map(({ reason }) => reason))].join(', ');
      return new GatewayError('invalid_request', `No target of the model "${model.name}" can serve the call: ${why}.`, {
        param: 'model',
      });
    }
    const ends = limited.map((target) => state.credentials.unusable(target, now)?.until ?? now);
    const retryAfterSeconds = Math.max(1, Math.ceil((Math.min(...ends) - now) / 1000));
    const message = `Every upstream of the model "${model.name}" has reached its rate limit. ${tryAgainIn(retryAfterSeconds)}`;
    return new GatewayError('rate_limited', message, { retryAfterSeconds });
  }

  return {
    route,
    state,
    trial: (request, trialOptions) => new Trial(state, request, trialOptions),

    targetState(target) {
      const now = state.now();
      const health = state.health(target);
      const { firstToken, whole, perToken, window, nextProbeAt } = health;
      return {
        id: target.id,
        provider: target.provider,
        model: target.model,
        phase: health.phase(now),
        calls: window.calls(now),
        errorRate: window.errorRate(now),
        inFlight: health.inFlight,
        ...(firstToken.measured !== undefined && { firstTokenMs: firstToken.measured }),
        ...(whole.measured !== undefined && { wholeMs: whole.measured }),
        ...(perToken.measured !== undefined && { tokenMs: perToken.measured }),
        ...(nextProbeAt > 0 && { nextProbeAt }),
        coolingCredentials: state.credentials.cooling(target, now),
        queued: state.bulkhead(target)?.queued ?? 0,
      };
    },

    coolDown: (target, until) => state.health(target).coolDown(until, state.now()),

    reset(target) {
      state.health(target).reset();
      state.credentials.reset(target);
    },
  };
}

const unscored = () => undefined;

/** At an error rate of 50 % a target counts as six times as slow. */
const FAILURE_WEIGHT = 10;

/** The time until the first token of a stream, or of a complete non-streaming response. */
function timesOf(call: Call | undefined, { firstToken, whole }: TargetHealth): TargetHealth['firstToken'] {
  return call?.stream ? firstToken : whole;
}

function allOpenError({ name }: { name: string }): GatewayError {
  const message = `No upstream of the model "${name}" is available after failures in a row. ${tryAgainIn(1)}`;
  return new GatewayError('upstream_unavailable', message, { retryAfterSeconds: 1 });
}

const tryAgainIn = (seconds: number) => `Please try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
