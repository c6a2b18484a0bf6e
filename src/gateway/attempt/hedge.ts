/**
 * Hedging (`hedge: on`): if the first target is slower than usual a second one is called too, if the balance covers both. The first of
 * them with content answers, the other is cancelled. What the other costs is charged with the call.
 */
import { GatewayError } from '../../canonical/errors.ts';
import type { ModelTarget } from '../../catalog/catalog.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import type { Trial } from '../../routing/trial.ts';
import { mayCostExtra } from '../admit/extras.ts';
import type { CallContext } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { fromFirstContent } from '../prepare/read-ahead.ts';
import { publicError } from '../redaction.ts';
import { adopt, viewOf } from './attempt-view.ts';
import { sendTo } from './send.ts';
import { type Attempt, pauseOf } from './trial-of.ts';
import type { Upstream } from './upstream.ts';

/** One of the two targets that are called concurrently. */
interface Contender {
  readonly attempt: Attempt;
  /** What the attempt sets in the call. */
  readonly view: CallContext;
  /** Never rejects. */
  readonly result: Promise<Result>;
}

type Result = { upstream: Upstream } | { thrown: unknown };

/** Members that make a provider run tools or store data. */
const ACTING = ['mcp_servers', 'container'] as const;

/**
 * Whether a second target may be called. Not if each request generates a paid result (images, speech, videos, transcriptions), or
 * if the provider runs tools: it would run them twice.
 */
export function mayHedge({ call, model }: CallContext): boolean {
  if (call.kind !== model.kind) return false;
  switch (call.kind) {
    case 'chat':
      if (call.modalities?.some((one) => one !== 'text')) return false;
      break;
    case 'embed':
    case 'rerank':
    case 'moderation':
      break;
    default:
      return false;
  }
  for (const dialect in call.extras)
    for (const one of ACTING) if (call.extras[dialect]?.[one] !== undefined) return false;
  return !mayCostExtra(call);
}

export class Hedging {
  private readonly deps: GatewayDeps;
  private readonly context: CallContext;
  private readonly trial: Trial<ModelTarget>;
  /** Receives the errors of second targets. */
  private readonly errors: GatewayError[];

  constructor(deps: GatewayDeps, context: CallContext, trial: Trial<ModelTarget>, errors: GatewayError[]) {
    this.deps = deps;
    this.context = context;
    this.trial = trial;
    this.errors = errors;
  }

  /** Resolves with the reply that starts first, as the context's attempt. Throws the error of `attempt` if neither answers. */
  async send(attempt: Attempt): Promise<Upstream> {
    const first = this.start(attempt);
    adopt(this.context, first.view);
    const second = this.context.hasHedged ? undefined : await this.second(first);
    return second ? this.race(first, second) : this.taken(first, await first.result);
  }

  private start(attempt: Attempt): Contender {
    const view = viewOf(this.context, attempt, { meter: this.context.meter.anew() });
    return { attempt, view, result: this.resultOf(attempt, view) };
  }

  private async resultOf({ target, credential }: Attempt, view: CallContext): Promise<Result> {
    try {
      return { upstream: await fromFirstContent(await sendTo(this.deps, view, target, credential)) };
    } catch (thrown) {
      return { thrown };
    }
  }

  /** `undefined`: the first has a result in time, no other target is free, or the balance does not cover both. */
  private async second(first: Contender): Promise<Contender | undefined> {
    const { context, deps, trial } = this;
    const pause = pauseOf(deps, trial.hedgeAfterMs(first.attempt), context.cancellation);
    const early = await Promise.race([first.result, pause.over]);
    pause.stop();
    // With `continuation: buffer` the reply may have started without a result.
    if (early || first.attempt.beganAt > 0 || context.cancellation.cancelled || context.isAbandoned) return undefined;
    const attempt = trial.hedge(first.attempt);
    if (!attempt) return undefined;
    context.hasHedged = true;
    const isCovered = await Promise.race([this.enlarge(), first.result.then(() => false)]);
    if (!isCovered || context.cancellation.cancelled) {
      attempt.dropped();
      return undefined;
    }
    context.asks(attempt);
    const second = this.start(attempt);
    // If the client disconnects before one of them answers, both are charged.
    context.rival = { asked: second.view, beside: first.view };
    return second;
  }

  /** The hold covers the call twice before the second request is sent; after a crash the input is charged twice. */
  private async enlarge(): Promise<boolean> {
    const { context, deps } = this;
    const { caller, covered: by, model, estimatedInput: input } = context;
    const { budget, accountBudget } = caller;
    const checkpoint = 2n * charge({ input, output: 0, source: 'counted' }, model.price);
    const hold = await deps.ledger.enlarge(context.hold, { by, checkpoint, at: deps.now(), budget, accountBudget });
    if (hold) context.hold = hold;
    return hold !== undefined;
  }

  private async race(first: Contender, second: Contender): Promise<Upstream> {
    const one = await Promise.race([first.result.then(() => first), second.result.then(() => second)]);
    const other = one === first ? second : first;
    const result = await one.result;
    if ('upstream' in result) {
      this.context.rival = { asked: other.view, beside: one.view };
      this.outrun(other, first);
      return this.taken(one, result);
    }
    if (this.isFinal(result.thrown, one, first)) {
      second.attempt.dropped();
      for (const { view } of [first, second]) view.cancellation.cancel();
      return this.taken(one, result);
    }
    this.failed(one, result.thrown, other);
    const last = await other.result;
    if ('upstream' in last || other === first) return this.taken(other, last);
    if (this.context.cancellation.cancelled) other.attempt.dropped();
    else this.failed(other, last.thrown, first);
    return this.taken(first, result);
  }

  /** Whether the other answer is not waited for: the call is over, or the first target refused the request itself. */
  private isFinal(thrown: unknown, { view }: Contender, first: Contender): boolean {
    if (this.context.cancellation.cancelled || !(thrown instanceof GatewayError)) return true;
    return view === first.view && !thrown.retryable;
  }

  /** One of them failed while the other may still answer. The failed one is not charged. */
  private failed({ attempt, view }: Contender, thrown: unknown, other: Contender): void {
    const { context } = this;
    context.rival = undefined;
    context.cancellation.sent = other.view.cancellation.sent;
    if (!(thrown instanceof GatewayError)) {
      attempt.dropped();
      this.deps.reportError('A second attempt of a call failed.', thrown);
      return;
    }
    const error = publicError(this.deps, view, thrown);
    attempt.failed(thrown, error);
    this.errors.push(error);
  }

  /** The slower one is cancelled. That is not a failure of its target. */
  private outrun({ attempt, view }: Contender, first: Contender): void {
    if (attempt === first.attempt) attempt.outrun();
    else attempt.dropped();
    view.cancellation.cancel();
    this.context.cancellation.delete(view.cancellation);
  }

  /** The call continues with this attempt. */
  private taken({ view }: Contender, result: Result): Upstream {
    adopt(this.context, view);
    if ('thrown' in result) throw result.thrown;
    this.context.meter = view.meter;
    return result.upstream;
  }
}
