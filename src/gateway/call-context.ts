/** One call on its way: what is known of it so far, and its one conclusion. */
import type { Caller } from '../access/access.ts';
import type { Admitted } from '../access/limits.ts';
import type { Load } from '../access/work-bounds.ts';
import type { Call } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { charge } from '../ledger/charge.ts';
import { isBeyondDoubt } from '../ledger/doubt.ts';
import { estimatedUsage } from '../ledger/estimated-usage.ts';
import type { Hold } from '../ledger/ledger.ts';
import { choices, type Extras } from '../ledger/quote.ts';
import { askedPiece } from '../ledger/rates.ts';
import type { Route } from '../routing/routed.ts';
import type { TrackedAttempt } from '../routing/tracked-attempt.ts';
import type { CallOutcome, CallRow } from '../store/store.ts';
import { Cancellation } from '../transport/cancellation.ts';
import type { Asking } from './asking.ts';
import type { Chain, Ready } from './candidate.ts';
import { disputedUsage } from './doubt.ts';
import { TOOL_FORMATS } from './extra-members.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { Meter } from './meter.ts';
import type { AddressedMedia } from './prepare/addressed-media.ts';
import { ReasoningCollector } from './reasoning-collector.ts';

/** A call at the door: who asks for what. */
export interface Entrant {
  readonly id: string;
  /** Milliseconds since 1970, and of the monotonic clock. */
  readonly at: number;
  readonly startedMs: number;
  readonly dialect: Dialect;
  readonly call: Call;
  readonly caller: Caller;
  /** A translation that would lose something is refused instead. */
  readonly strict: boolean;
  /** The files it came with are wanted no more. */
  readonly release?: (() => void) | undefined;
  /** What it takes of what may be under way. */
  readonly load: Load;
  /** What its caller wishes of models and providers. */
  readonly asking?: Asking | undefined;
  /** Of its request; some name the session that it belongs to. */
  readonly headers?: { get(name: string): string | null | undefined } | undefined;
}

/** What it was let in with. */
export interface Admission {
  readonly model: Model;
  /** The targets to try, in order, and why in this order. */
  readonly route: Route<ModelTarget>;
  /** In tokens. */
  readonly estimatedInput: number;
  readonly hold: Hold;
  /** What of the hold is for this model: the most that the call costs at its price. */
  readonly covered: Money;
  readonly meter: Meter;
  /** What the call names by address, where it does. */
  readonly media: AddressedMedia | undefined;
  /** The models that may answer in the place of this one, where there are any. */
  readonly chain?: Chain | undefined;
  /** Its place under the limits of key and account. */
  readonly pace: Admitted;
  /** What it asks for beside its tokens. */
  readonly extras: Extras | undefined;
}

export class CallContext implements Entrant, Admission {
  readonly id: string;
  readonly at: number;
  readonly startedMs: number;
  readonly dialect: Dialect;
  call: Call;
  readonly caller: Caller;
  readonly strict: boolean;
  readonly release: (() => void) | undefined;
  readonly load: Load;
  readonly asking: Asking | undefined;
  model: Model;
  route: Route<ModelTarget>;
  estimatedInput: number;
  readonly hold: Hold;
  covered: Money;
  meter: Meter;
  media: AddressedMedia | undefined;
  readonly chain: Chain | undefined;
  readonly pace: Admitted;
  extras: Extras | undefined;
  /** Ends whatever is under way upstream. */
  readonly cancellation = new Cancellation();
  attempts = 0;
  /** The one under way, or that has answered. */
  attempt: TrackedAttempt<ModelTarget> | undefined;
  /** How often the whole input is sent: several choices may be several upstream calls. */
  sendings = 1;
  warnings: readonly string[] = [];
  /** Events of the reply that could not be read and were left out. */
  skippedEvents = 0;
  /** The target that answers, once one does, and its dialect. */
  target: ModelTarget | undefined;
  upstreamDialect = '';
  /** The headers of the request that was sent last: what they prove must not come back in an answer. */
  sent: { readonly [name: string]: string } | undefined;
  /** Who can use the reasoning signatures of this attempt's target. */
  signatureOwner: string | undefined;
  /** Sees the reply, where there is thinking in it. */
  collector: ReasoningCollector | undefined;
  firstByteMs: number | undefined;
  /** Our own figures, where the provider's report was not believed. */
  disputed: Usage | undefined;
  /** What the call was charged, once it is concluded. */
  concluded: Promise<Money> | undefined;
  /** The calls under way, of which this is one until it is concluded. */
  readonly underWay: Set<CallContext>;

  // Member by member: measured, copying the two objects costs as much as reading the request.
  constructor(entrant: Entrant, admission: Admission, underWay: Set<CallContext>) {
    this.id = entrant.id;
    this.at = entrant.at;
    this.startedMs = entrant.startedMs;
    this.dialect = entrant.dialect;
    this.call = entrant.call;
    this.caller = entrant.caller;
    this.strict = entrant.strict;
    this.release = entrant.release;
    this.load = entrant.load;
    this.asking = entrant.asking;
    this.model = admission.model;
    this.route = admission.route;
    this.estimatedInput = admission.estimatedInput;
    this.hold = admission.hold;
    this.covered = admission.covered;
    this.meter = admission.meter;
    this.media = admission.media;
    this.chain = admission.chain;
    this.pace = admission.pace;
    this.extras = admission.extras;
    this.underWay = underWay;
    underWay.add(this);
  }

  /** From now on this model is asked; nothing of any other has been delivered. */
  turnTo({ candidate, route }: Ready): void {
    // It had answered, and its answer was filtered.
    this.attempt?.ended(undefined, 0, undefined);
    const { model, call, amount, extras, estimatedInput } = candidate;
    call.receivedSeconds = this.call.receivedSeconds ?? 0;
    this.model = model;
    this.call = call;
    this.route = route;
    this.estimatedInput = estimatedInput;
    this.covered = amount;
    this.extras = extras;
    this.media = this.media?.of(call);
    this.meter = new Meter(estimatedInput);
    this.sendings = 1;
    this.collector = undefined;
  }
}

/** Counts what is in a stream's events, and remembers what is thought in them. */
export function watch(context: CallContext, events: readonly ReplyEvent[]): void {
  context.meter.see(events);
  if (context.meter.thinks) collectReasoning(context, events);
}

/** Remembers what is thought in these events, before they are written: a proof says whose it is. */
export function collectReasoning(context: CallContext, events: readonly ReplyEvent[]): void {
  if (context.signatureOwner === undefined) return;
  context.collector ??= new ReasoningCollector(
    context.signatureOwner,
    context.signatureOwner !== context.upstreamDialect,
  );
  context.collector.see(events);
}

export interface Conclusion {
  outcome: CallOutcome;
  status: number;
  error?: GatewayError;
}

/**
 * Settles the hold, records and logs the call: exactly once, whoever calls it first; resolves with the cost when that is
 * committed. Nothing delivered is charged nothing, unless the client left after its request was sent: then its input is charged.
 */
export function conclude(deps: GatewayDeps, context: CallContext, conclusion: Conclusion): Promise<Money> {
  context.concluded ??= settle(deps, context, conclusion);
  return context.concluded;
}

async function settle(deps: GatewayDeps, context: CallContext, conclusion: Conclusion): Promise<Money> {
  const using = usageOf(deps, context, conclusion);
  const counted = using instanceof Promise ? await using : using;
  let used = counted && context.model.kind === 'image' ? { ...askedPiece(context.call), ...counted } : counted;
  if (used && context.extras) used = withCertainCalls(used, context.extras, context);
  let cost = used ? charge(used, context.model.price) : 0n;
  let ending = conclusion;
  const doubted = used && !isBeyondDoubt(cost, context.covered) && (await disputedUsage(deps, context, used, cost));
  if (doubted) {
    used = doubted;
    context.disputed = doubted;
    cost = context.covered;
    ending = { ...conclusion, outcome: 'disputed' };
  }
  context.media?.cancel();
  context.pace.end(used ? used.input + used.output : 0);
  const failure = conclusion.outcome === 'aborted' ? undefined : conclusion.error;
  context.attempt?.ended(failure, used?.output ?? 0, used && used.input + used.output);
  const record = recordOf(context, ending, used, cost);
  try {
    await deps.ledger.settle(context.hold, record);
  } finally {
    deps.log(record, context.warnings.length, conclusion.error?.cause, context.route.decision);
    context.underWay.delete(context);
    context.release?.();
    context.load.end();
  }
  return cost;
}

/** Searches that are made in any case and that their provider does not report. */
function withCertainCalls(used: Usage, { certainCalls }: Extras, { upstreamDialect, meter }: CallContext): Usage {
  const isMade = certainCalls > 0 && TOOL_FORMATS[upstreamDialect]?.once && meter.delivered;
  return isMade && !used.serverToolCalls ? { ...used, serverToolCalls: certainCalls } : used;
}

function usageOf(deps: GatewayDeps, context: CallContext, { outcome }: Conclusion): Usage | Promise<Usage> | undefined {
  if (context.meter.delivered) return context.meter.final(deps.countTexts);
  if (outcome !== 'aborted' || !context.cancellation.sent) return undefined;
  return context.meter.hasReport
    ? context.meter.final(deps.countTexts)
    : estimatedUsage(context.call, context.sendings);
}

/** All the choices that were asked for have come: nothing but usage can still follow. */
export function isFinished({ meter, call }: CallContext): boolean {
  return meter.finished > 0 && meter.finished >= choices(call);
}

function recordOf(
  context: CallContext,
  { outcome, status, error }: Conclusion,
  used: Usage | undefined,
  cost: Money,
): CallRow {
  const record: CallRow = {
    id: context.id,
    account: context.caller.account,
    key: context.caller.key,
    at: context.at,
    model: context.model.name,
    provider: context.target?.provider ?? '',
    targetModel: context.target?.model ?? '',
    dialect: context.dialect.name,
    upstreamDialect: context.upstreamDialect,
    stream: context.call.stream,
    status,
    outcome,
    attempts: context.attempts,
    cost,
    priceId: context.model.priceId,
    durationMs: Math.round(performance.now() - context.startedMs),
  };
  if (error) record.errorCode = error.code;
  if (used) record.usage = used;
  if (context.firstByteMs !== undefined) record.firstByteMs = Math.round(context.firstByteMs);
  return record;
}
