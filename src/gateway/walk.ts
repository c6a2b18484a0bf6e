/** One call on its way: what is known of it so far, and its one conclusion. */
import type { Caller } from '../access/access.ts';
import type { Call } from '../canonical/call.ts';
import type { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { charge } from '../ledger/charge.ts';
import type { Hold } from '../ledger/ledger.ts';
import type { CallOutcome, CallRow } from '../store/store.ts';
import type { Meter } from './meter.ts';
import type { GatewayRooms } from './rooms.ts';

export interface Walk {
  readonly id: string;
  /** Milliseconds since 1970, and of the monotonic clock. */
  readonly at: number;
  readonly startedMs: number;
  readonly dialect: Dialect;
  readonly call: Call;
  readonly caller: Caller;
  readonly model: Model;
  readonly hold: Hold;
  readonly meter: Meter;
  /** The targets to try, in order. */
  readonly targets: readonly ModelTarget[];
  /** A translation that would lose something is refused instead. */
  readonly strict: boolean;
  /** Ends the key's rate reservation with the tokens used. */
  readonly endRate: (usedTokens: number) => void;
  /** Called once the call is concluded. */
  readonly leave: () => void;
  /** Aborts whatever is under way upstream. */
  readonly abort: AbortController;
  attempts: number;
  warnings: string[];
  /** The target that answers, once one does, and its dialect. */
  target: ModelTarget | undefined;
  upstreamDialect: string;
  firstByteMs: number | undefined;
  /** What the call was charged, once it is concluded. */
  concluded: Promise<Money> | undefined;
}

export interface Conclusion {
  outcome: CallOutcome;
  status: number;
  error?: GatewayError;
}

/**
 * Settles the hold, records and logs the call: exactly once, whoever calls it first; resolves with the cost when that is
 * committed. Nothing delivered is charged nothing.
 */
export function conclude(rooms: GatewayRooms, walk: Walk, conclusion: Conclusion): Promise<Money> {
  walk.concluded ??= settle(rooms, walk, conclusion);
  return walk.concluded;
}

async function settle(rooms: GatewayRooms, walk: Walk, { outcome, status, error }: Conclusion): Promise<Money> {
  const used = walk.meter.delivered ? walk.meter.usage() : undefined;
  const cost = used ? charge(used, walk.model.price) : 0n;
  walk.endRate(used ? used.input + used.output : 0);
  const now = performance.now();
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
    ...(error && { errorCode: error.code }),
    attempts: walk.attempts,
    cost,
    priceId: walk.model.priceId,
    ...(used && { usage: JSON.stringify(used) }),
    durationMs: Math.round(now - walk.startedMs),
    ...(walk.firstByteMs !== undefined && { firstByteMs: Math.round(walk.firstByteMs) }),
  };
  try {
    await rooms.ledger.settle(walk.hold, record);
  } finally {
    rooms.log(record, error?.cause);
    walk.leave();
  }
  return cost;
}
