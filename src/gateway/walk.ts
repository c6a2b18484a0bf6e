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
import type { CallOutcome, CallRow } from '../store/store.ts';
import { Cancellation } from '../transport/transport.ts';
import type { AddressedMedia } from './addressed-media.ts';
import { disputedUsage } from './doubt.ts';
import { TOOL_FORMATS } from './extra-members.ts';
import type { Meter } from './meter.ts';
import type { GatewayRooms } from './rooms.ts';
import { Witness } from './witness.ts';

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
}

/** What it was let in with. */
export interface Admission {
  readonly model: Model;
  /** The targets to try, in order. */
  readonly targets: readonly ModelTarget[];
  readonly hold: Hold;
  readonly meter: Meter;
  /** What the call names by address, where it does. */
  readonly media: AddressedMedia | undefined;
  /** Its place under the limits of key and account. */
  readonly pace: Admitted;
  /** What it asks for beside its tokens. */
  readonly extras: Extras | undefined;
}

export class Walk implements Entrant, Admission {
  readonly id: string;
  readonly at: number;
  readonly startedMs: number;
  readonly dialect: Dialect;
  readonly call: Call;
  readonly caller: Caller;
  readonly strict: boolean;
  readonly release: (() => void) | undefined;
  readonly load: Load;
  readonly model: Model;
  readonly targets: readonly ModelTarget[];
  readonly hold: Hold;
  readonly meter: Meter;
  readonly media: AddressedMedia | undefined;
  readonly pace: Admitted;
  readonly extras: Extras | undefined;
  /** Ends whatever is under way upstream. */
  readonly cancellation = new Cancellation();
  attempts = 0;
  /** How often the whole input is sent: several choices may be several upstream calls. */
  sendings = 1;
  warnings: readonly string[] = [];
  /** The target that answers, once one does, and its dialect. */
  target: ModelTarget | undefined;
  upstreamDialect = '';
  /** The headers of the request that was sent last: what they prove must not come back in an answer. */
  sent: { readonly [name: string]: string } | undefined;
  /** Who can make use of what proves its thinking. */
  maker: string | undefined;
  /** Sees the reply, where there is thinking in it. */
  witness: Witness | undefined;
  firstByteMs: number | undefined;
  /** What the call was charged, once it is concluded. */
  concluded: Promise<Money> | undefined;
  /** The calls under way, of which this is one until it is concluded. */
  readonly underWay: Set<Walk>;

  // Member by member: measured, copying the two objects costs as much as reading the request.
  constructor(entrant: Entrant, admission: Admission, underWay: Set<Walk>) {
    this.id = entrant.id;
    this.at = entrant.at;
    this.startedMs = entrant.startedMs;
    this.dialect = entrant.dialect;
    this.call = entrant.call;
    this.caller = entrant.caller;
    this.strict = entrant.strict;
    this.release = entrant.release;
    this.load = entrant.load;
    this.model = admission.model;
    this.targets = admission.targets;
    this.hold = admission.hold;
    this.meter = admission.meter;
    this.media = admission.media;
    this.pace = admission.pace;
    this.extras = admission.extras;
    this.underWay = underWay;
    underWay.add(this);
  }
}

/** Counts what is in a stream's events, and remembers what is thought in them. */
export function watch(walk: Walk, events: readonly ReplyEvent[]): void {
  walk.meter.see(events);
  if (walk.meter.thinks) bearWitness(walk, events);
}

/** Remembers what is thought in these events, before they are written: a proof says whose it is. */
export function bearWitness(walk: Walk, events: readonly ReplyEvent[]): void {
  if (walk.maker === undefined) return;
  walk.witness ??= new Witness(walk.maker, walk.maker !== walk.upstreamDialect);
  walk.witness.see(events);
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
export function conclude(rooms: GatewayRooms, walk: Walk, conclusion: Conclusion): Promise<Money> {
  walk.concluded ??= settle(rooms, walk, conclusion);
  return walk.concluded;
}

async function settle(rooms: GatewayRooms, walk: Walk, conclusion: Conclusion): Promise<Money> {
  const using = usageOf(rooms, walk, conclusion);
  const counted = using instanceof Promise ? await using : using;
  let used = counted && walk.model.kind === 'image' ? { ...askedPiece(walk.call), ...counted } : counted;
  if (used && walk.extras) used = withCertainCalls(used, walk.extras, walk);
  let cost = used ? charge(used, walk.model.price) : 0n;
  let ending = conclusion;
  const doubted = used && !isBeyondDoubt(cost, walk.hold.amount) && (await disputedUsage(rooms, walk, used, cost));
  if (doubted) {
    used = doubted;
    cost = walk.hold.amount;
    ending = { ...conclusion, outcome: 'disputed' };
  }
  walk.media?.cancel();
  walk.pace.end(used ? used.input + used.output : 0);
  const record = recordOf(walk, ending, used, cost);
  try {
    await rooms.ledger.settle(walk.hold, record);
  } finally {
    rooms.log(record, walk.warnings.length, conclusion.error?.cause);
    walk.underWay.delete(walk);
    walk.release?.();
    walk.load.end();
  }
  return cost;
}

/** Searches that are made in any case and that their provider does not report. */
function withCertainCalls(used: Usage, { certainCalls }: Extras, { upstreamDialect, meter }: Walk): Usage {
  const isMade = certainCalls > 0 && TOOL_FORMATS[upstreamDialect]?.once && meter.delivered;
  return isMade && !used.serverToolCalls ? { ...used, serverToolCalls: certainCalls } : used;
}

function usageOf(rooms: GatewayRooms, walk: Walk, { outcome }: Conclusion): Usage | Promise<Usage> | undefined {
  if (walk.meter.delivered) return walk.meter.final(rooms.countTexts);
  if (outcome !== 'aborted' || !walk.cancellation.sent) return undefined;
  return walk.meter.hasReport ? walk.meter.final(rooms.countTexts) : estimatedUsage(walk.call, walk.sendings);
}

/** All the choices that were asked for have come: nothing but usage can still follow. */
export function isFinished({ meter, call }: Walk): boolean {
  return meter.finished > 0 && meter.finished >= choices(call);
}

function recordOf(walk: Walk, { outcome, status, error }: Conclusion, used: Usage | undefined, cost: Money): CallRow {
  const record: CallRow = {
    id: walk.id,
    account: walk.caller.account,
    key: walk.caller.key,
    at: walk.at,
    model: walk.model.name,
    provider: walk.target?.provider ?? '',
    targetModel: walk.target?.model ?? '',
    dialect: walk.dialect.name,
    upstreamDialect: walk.upstreamDialect,
    stream: walk.call.stream,
    status,
    outcome,
    attempts: walk.attempts,
    cost,
    priceId: walk.model.priceId,
    durationMs: Math.round(performance.now() - walk.startedMs),
  };
  if (error) record.errorCode = error.code;
  if (used) record.usage = used;
  if (walk.firstByteMs !== undefined) record.firstByteMs = Math.round(walk.firstByteMs);
  return record;
}
