/** One call: its state, and its single conclusion (settled, recorded, logged). */
import type { Caller } from '../access/access.ts';
import type { Admitted } from '../access/limits.ts';
import type { Load } from '../access/work-bounds.ts';
import type { Call } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import type { Placed, PlacedSet } from '../canonical/placed-set.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import type { Usage } from '../canonical/usage.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { isBeyondDoubt } from '../ledger/doubt.ts';
import type { Hold } from '../ledger/ledger.ts';
import { charge, savedBy } from '../ledger/pricing/charge.ts';
import { askedPiece } from '../ledger/pricing/pieces.ts';
import { choices, type Extras } from '../ledger/pricing/quote.ts';
import { estimatedUsage } from '../ledger/tokens/estimated-usage.ts';
import type { Decision } from '../routing/order.ts';
import type { Route } from '../routing/routed.ts';
import type { TrackedAttempt } from '../routing/tracked-attempt.ts';
import type { CallOutcome, CallRow } from '../store/rows.ts';
import type { CallTrace } from '../telemetry/events.ts';
import { writeReceipt } from '../telemetry/receipt.ts';
import { Cancellation } from '../transport/cancellation.ts';
import type { Chain, Ready } from './admit/candidate.ts';
import { TOOL_FORMATS } from './admit/extra-members.ts';
import type { RequestedRouting } from './admit/requested-routing.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { AddressedMedia } from './prepare/addressed-media.ts';
import type { CachedCall } from './prepare/cached-call.ts';
import { ReasoningCollector } from './prepare/reasoning-collector.ts';
import { countedTokens, disputedUsage, providerCost } from './settle/figures.ts';
import { Meter } from './settle/meter.ts';
import { type Rival, rivalCost, withRival } from './settle/rival.ts';

/** A call that has been read and not yet admitted. */
export interface PendingCall {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** On the clock of `performance.now()`. */
  readonly startedMs: number;
  readonly dialect: Dialect;
  readonly call: Call;
  readonly caller: Caller;
  readonly trace: CallTrace;
  /** A translation that would lose something is refused (`x-modelport-strict`). */
  readonly strict: boolean;
  /** Deletes the files that came with the request. */
  readonly release?: (() => void) | undefined;
  /** Its share of the limits of memory and concurrent calls. */
  readonly load: Load;
  /** The caller's preferences for models and providers. */
  readonly requestedRouting?: RequestedRouting | undefined;
  /** The headers of the request. Some name the session that the call belongs to. */
  readonly headers?: { get(name: string): string | null | undefined } | undefined;
}

/** What admission adds to it. */
export interface AdmittedCall {
  readonly model: Model;
  /** The targets to try, in order, with the reason of the order. */
  readonly route: Route<ModelTarget>;
  /** The estimated input, in tokens. */
  readonly estimatedInput: number;
  readonly hold: Hold;
  /** The part of the hold that covers this model: the most that the call costs at its price. */
  readonly covered: Money;
  readonly meter: Meter;
  /** The media that the call names by URL, if any. */
  readonly media: AddressedMedia | undefined;
  /** The fallback models, if there are any. */
  readonly chain?: Chain | undefined;
  /** Its place within the limits of key and account. */
  readonly pace: Admitted;
  /** What it costs besides its tokens: tools at the provider, images of a tool. */
  readonly extras: Extras | undefined;
}

const NO_WARNINGS: readonly string[] = [];

export class CallContext implements PendingCall, AdmittedCall, Placed {
  readonly id: string;
  readonly at: number;
  readonly startedMs: number;
  readonly dialect: Dialect;
  call: Call;
  readonly caller: Caller;
  readonly trace: CallTrace;
  readonly strict: boolean;
  readonly release: (() => void) | undefined;
  readonly load: Load;
  readonly requestedRouting: RequestedRouting | undefined;
  model: Model;
  route: Route<ModelTarget>;
  estimatedInput: number;
  hold: Hold;
  covered: Money;
  // Members that every chunk of a stream reads are next to each other in memory.
  meter: Meter;
  /** What the call was charged, once it is concluded. */
  concluded: Promise<Money> | undefined;
  firstByteMs: number | undefined;
  media: AddressedMedia | undefined;
  readonly chain: Chain | undefined;
  readonly pace: Admitted;
  extras: Extras | undefined;
  /** Cancels the active upstream requests. */
  readonly cancellation = new Cancellation();
  /** Cancels only the active attempt; absent: `cancellation` is used. */
  ownCancellation: Cancellation | undefined;
  attempts = 0;
  /** The active attempt, or the one that has answered. */
  attempt: TrackedAttempt<ModelTarget> | undefined;
  /** Another request of the call that may be billed: that of the concurrent or slower target (`attempt/hedge.ts`). */
  rival: Rival | undefined;
  /** Its client has disconnected. Active responses are read to their end, and no further request is sent. */
  isAbandoned = false;
  /** A second target was called once: no third one is. */
  hasHedged = false;
  /** How many upstream requests carry the whole input: several choices may be several requests. */
  sendings = 1;
  warnings: readonly string[] = NO_WARNINGS;
  /** Events of the reply that could not be read and were left out. */
  skippedEvents = 0;
  /** The target that was tried last. */
  target: ModelTarget | undefined;
  /** The name of the target's API format. */
  upstreamDialect = '';
  /** The headers of the last upstream request. The secrets in them are removed from error messages. */
  sent: { readonly [name: string]: string } | undefined;
  /** Who can use the reasoning signatures of this attempt's target. */
  signatureOwner: string | undefined;
  /** Collects the reply, where there is reasoning in it. */
  collector: ReasoningCollector | undefined;
  /** Our own count, where the provider's usage report was not believed. */
  disputed: Usage | undefined;
  /** Of a key with a cache. */
  cache: CachedCall | undefined;
  /** The active calls; this is one of them until it is concluded. */
  readonly underWay: PlacedSet<CallContext>;
  place = -1;

  // Member by member: copying the two objects was measured to cost as much as reading the request.
  constructor(pending: PendingCall, admission: AdmittedCall, underWay: PlacedSet<CallContext>) {
    this.id = pending.id;
    this.at = pending.at;
    this.startedMs = pending.startedMs;
    this.dialect = pending.dialect;
    this.call = pending.call;
    this.caller = pending.caller;
    this.trace = pending.trace;
    this.strict = pending.strict;
    this.release = pending.release;
    this.load = pending.load;
    this.requestedRouting = pending.requestedRouting;
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
    this.trace.admitted(this.hold.amount);
  }

  /** An attempt is about to be sent. */
  asks(attempt: TrackedAttempt<ModelTarget>): void {
    this.attempts++;
    attempt.follow(this.trace);
  }

  /** Continues with another model. Nothing was delivered yet. */
  turnTo({ candidate, route }: Ready): void {
    // The trial of the earlier model, whose answer was filtered.
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
    this.rival = undefined;
  }
}

/** Counts what is in a stream's events, and collects the reasoning in them. */
export function watch(context: CallContext, events: readonly ReplyEvent[]): void {
  context.meter.see(events);
  if (context.meter.thinks) collectReasoning(context, events);
}

/** Collects reasoning and its signatures. Called before the events are written, because it names the owner of a signature. */
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
  /** What its usage costs, where that is known already. */
  cost?: Money | undefined;
}

/**
 * Settles the hold, records and logs the call. Only the first conclusion counts; later ones get its promise, which resolves
 * with the cost once that is committed. If nothing was delivered nothing is charged, except the input of a call whose client
 * left after the request was sent.
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
  let cost = conclusion.cost ?? (used ? charge(used, context.model.price) : 0n);
  let ending = conclusion;
  const doubted = used && !isBeyondDoubt(cost, context.covered) && (await disputedUsage(deps, context, used, cost));
  if (doubted) {
    used = doubted;
    context.disputed = doubted;
    cost = context.covered;
    ending = { ...conclusion, outcome: 'disputed' };
  }
  const output = used?.output ?? 0;
  const tokens = used && countedTokens(context, used);
  const rival = used && !doubted && context.rival ? rivalCost(context.rival, context) : undefined;
  if (used && rival && context.rival) {
    // Both at list price, rounded up once by the factor of a price group, as replay and receipt compute it.
    const both = withRival(used, context.rival, rival);
    cost = charge(both, context.model.price);
    used = both;
  }
  context.media?.cancel();
  // Tokens of a stored reply were counted when it was made.
  context.pace.end(used?.source === 'cached' ? 0 : (tokens ?? 0) + (rival?.usage.input ?? 0));
  const failure = conclusion.outcome === 'aborted' ? undefined : conclusion.error;
  context.attempt?.ended(failure, output, tokens);
  const record = recordOf(context, ending, used, cost);
  const { trace } = context;
  fill(trace, context, conclusion.error);
  record.receipt = writeReceipt(trace, record);
  if (trace.labels.tags) record.tags = trace.labels.tags;
  const atProvider = providerCost(used, context);
  if (atProvider !== undefined) record.providerCost = atProvider;
  try {
    await deps.ledger.settle(context.hold, record);
    if (context.cache) await context.cache.keep(deps, { record, isDoubted: isDoubted(context) });
  } finally {
    trace.ended(record);
    context.underWay.delete(context);
    context.release?.();
    context.load.end();
  }
  return cost;
}

/** What the trace does not know before the end of the call. */
function fill(
  trace: CallTrace,
  { warnings, route: { decision }, hold, pace }: CallContext,
  error: GatewayError | undefined,
): void {
  trace.warnings = warnings;
  trace.error = error;
  trace.hold = hold.amount;
  trace.limits = pace.limits;
  if (decision) trace.route = routeOf(decision);
}

/** The order of the targets and its reasons: `main/gpt-4o affinity`. */
function routeOf({ choices, excluded, limited }: Decision<ModelTarget>): () => string[] {
  return () => [
    ...[...choices, ...excluded].map(({ target, reason }) => `${target.id} ${reason}`),
    ...limited.map(({ id }) => `${id} rate limited`),
  ];
}

/** Whether some of the reply was not believed, or not read. */
function isDoubted({ disputed, skippedEvents }: CallContext): boolean {
  return disputed !== undefined || skippedEvents > 0;
}

/** Adds the searches that a provider makes for every such call and does not report. */
function withCertainCalls(used: Usage, { certainCalls }: Extras, { upstreamDialect, meter }: CallContext): Usage {
  const isMade = certainCalls > 0 && TOOL_FORMATS[upstreamDialect]?.once && meter.delivered;
  return isMade && !used.serverToolCalls ? { ...used, serverToolCalls: certainCalls } : used;
}

function usageOf(deps: GatewayDeps, context: CallContext, { outcome }: Conclusion): Usage | Promise<Usage> | undefined {
  const { meter, call, sendings } = context;
  const hasLeft = outcome === 'aborted';
  if (!meter.delivered && !(hasLeft && context.cancellation.sent)) return undefined;
  const used = meter.delivered || meter.hasReport ? meter.final(deps.countTexts) : estimatedUsage(call, sendings);
  // Other formats do not show the client a part of an image.
  return hasLeft && meter.showsImage && context.dialect.name === context.upstreamDialect ? withImage(used) : used;
}

/** With the image of which the client has seen a part before it left. */
async function withImage(used: Usage | Promise<Usage>): Promise<Usage> {
  const { images = 0, source, ...rest } = await used;
  return { ...rest, images: images + 1, source: source === 'estimated' ? 'counted' : source };
}

/** Whether every requested choice has finished: only usage can still follow. */
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
  if (used) {
    record.usage = used;
    const saved = savedBy(used, context.model.price, cost);
    if (saved !== 0n) record.saved = saved;
  }
  if (context.firstByteMs !== undefined) record.firstByteMs = Math.round(context.firstByteMs);
  return record;
}
