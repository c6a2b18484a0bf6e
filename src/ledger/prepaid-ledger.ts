/** The ledger over the store: prepaid balances. Every call is held first and resolved exactly once. */
import { GatewayError } from '../canonical/errors.ts';
import { type Money, writeMoney } from '../canonical/money.ts';
import { databaseUnavailable } from '../store/readiness.ts';
import type { CallRow, HoldRow, LedgerOutcome, LedgerStep, StepOf } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { COUNTERS } from './counters.ts';
import { type Commit, createGroupCommit, type PendingStep } from './group-commit.ts';
import { createLease } from './lease.ts';
import {
  type EnlargeRequest,
  type Hold,
  type HoldRequest,
  LASTING_OWNER,
  type Ledger,
  type ProcessStatus,
} from './ledger.ts';
import { MAXIMUM_CALL_COST } from './pricing/charge.ts';
import { createRetryQueue, type LateStep, type RetryQueue } from './retry-queue.ts';
import { createStrayHolds, type StrayHolds } from './stray-holds.ts';

/** Durations are in milliseconds. Defaults: `leaseMs` 30,000, `patienceMs` 10,000. */
export interface LedgerSettings {
  store: Store;
  /** A unique name of this process among those that share the database. */
  owner: string;
  /** This process's wall clock, for its lease. */
  now: () => number;
  /** A monotonic clock. */
  monotonic?: () => number;
  /** How long this process waits for a renewal before it ends another process's lease. */
  leaseMs?: number;
  /** How long a settlement is awaited when the store fails. */
  patienceMs?: number;
  /** Receives the size of every batch of steps, and its duration in milliseconds. */
  batchDone?: ((steps: number, ms: number) => void) | undefined;
}

const PATIENCE_MS = 10_000;

const LEASE_MS = 30_000;

/**
 * Money in two phases: `hold` before a call is sent, then `settle`, which releases the hold where the cost is 0. Amounts are nano-USD, times
 * milliseconds since 1970. Holds of a process that is gone are resolved by another one, after `leaseMs` (30,000 by default).
 *
 * @example
 * const ledger = createLedger({ store, owner: newOwner(), now: () => Date.now() });
 */
export function createLedger({
  store,
  owner,
  now,
  monotonic = () => performance.now(),
  leaseMs = LEASE_MS,
  patienceMs = PATIENCE_MS,
  batchDone,
}: LedgerSettings): Ledger {
  const commits = createGroupCommit(committing(store, batchDone), store.batchesAtOnce);
  const settlements = createRetryQueue(commits.submit, patienceMs);
  const lease = createLease({ store, process: owner, leaseMs, monotonic });
  /** The holds of active calls in this process. */
  const open = new Set<string>();
  const strays = createStrayHolds(store, monotonic);

  function requireLease(): void {
    if (lease.isFenced()) throw databaseUnavailable(new Error('The lease of this process was not renewed in time.'));
  }

  function hold(request: HoldRequest): Promise<Hold> {
    return new Promise((resolve, reject) => {
      const { callId, account, key, amount, model, priceId, at, budget, accountBudget } = request;
      refuseNegative(amount);
      requireLease();
      const row: HoldRow = { callId, account, key, amount, model, priceId, at, owner: request.owner ?? lease.owner() };
      if (request.sentAt !== undefined) row.sentAt = request.sentAt;
      if (request.checkpoint !== undefined) row.checkpoint = request.checkpoint;
      const step: StepOf<'hold'> = { type: 'hold', hold: row };
      if (budget) step.budget = budget;
      if (accountBudget) step.accountBudget = accountBudget;
      open.add(callId);
      commits.add(new PendingHold(step, open, strays, resolve, reject));
    });
  }

  async function enlarge(hold: Hold, request: EnlargeRequest): Promise<Hold | undefined> {
    const { callId, account, key } = hold;
    const { by, checkpoint, at, budget, accountBudget } = request;
    refuseNegative(by);
    const step: LedgerStep = { type: 'enlarge', callId, account, key, by, checkpoint, at };
    if (budget) step.budget = budget;
    if (accountBudget) step.accountBudget = accountBudget;
    try {
      const outcome = await commits.submit(step);
      return outcome.type === 'enlarged' ? { callId, account, key, amount: outcome.amount } : undefined;
    } catch {
      // Whether it was written is not known. A settlement reads the hold where its amount differs.
      return undefined;
    }
  }

  function settle(hold: Hold, call: CallRow): Promise<void> {
    return new Promise((resolve, reject) => {
      refuseNegative(call.cost);
      commits.forget(hold.callId);
      const amount = call.cost > MAXIMUM_CALL_COST ? hold.amount : call.cost;
      const step: StepOf<'resolve'> = { type: 'resolve', callId: hold.callId, amount, call, hold };
      commits.add(new PendingSettlement(step, open, settlements, resolve, reject));
    });
  }

  async function sweep(
    at: number,
    processStatusOf: (owner: string) => ProcessStatus = () => 'unknown',
  ): Promise<number> {
    let resolved = 0;
    try {
      await lease.renew(now());
      const landed = await strays.landed(lease.names(), (callId) => open.has(callId));
      const steps = landed.map((stray) => resolveStray(stray, at));
      resolved = await resolveAll([...steps, ...(await abandoned(at, processStatusOf))]);
      strays.forget(landed);
    } catch (thrown) {
      lease.interrupted();
      throw thrown;
    }
    // A settlement that fails here means nothing for other processes.
    await settlements.again();
    return resolved;
  }

  async function abandoned(at: number, processStatusOf: (owner: string) => ProcessStatus): Promise<LedgerStep[]> {
    const others = (await store.owners()).filter((row) => !lease.isOurs(row.owner) && row.owner !== LASTING_OWNER);
    const ended = await lease.ended(others, processStatusOf, at);
    if (ended.length === 0) return [];
    return (await store.holds({ owners: ended })).map((hold) => resolveAbandoned(hold, at));
  }

  async function resolveAll(steps: readonly LedgerStep[]): Promise<number> {
    const outcomes = await Promise.all(steps.map(commits.submit));
    return outcomes.filter((outcome) => outcome.type === 'resolved' && !outcome.repeated).length;
  }

  return {
    hold,
    enlarge,
    settle,
    sweep,
    renew: () => lease.renew(now()),
    isFenced: lease.isFenced,
    requireLease,
    async sent({ callId, account }, sentAt, checkpoint) {
      await commits.submit({ type: 'mark', callId, account, sentAt, checkpoint });
    },
    checkpoint: ({ callId, account }, checkpoint) => commits.note({ type: 'mark', callId, account, checkpoint }),
    async topUp(account, amount, { kind = 'top-up', ...detail }) {
      const counter = COUNTERS[kind];
      const outcome = await commits.submit({ type: 'enter', account, kind, amount, counter, ...detail });
      if (outcome.type !== 'entered') throw refusal(outcome, account, amount);
      return outcome.entry;
    },
    async redeem(account, hash, at, audit) {
      const step: LedgerStep = { type: 'redeem', account, hash, counter: COUNTERS.redemption, at };
      if (audit) step.audit = audit;
      const outcome = await commits.submit(step);
      if (outcome.type !== 'entered') throw refusal(outcome, account, 0n);
      return outcome.entry;
    },
    async balance(id) {
      const account = await store.account(id);
      return account && { available: account.balance - account.held, held: account.held };
    },
    verify: () => store.verify(),
    async flush() {
      await settlements.again();
      await commits.flush();
    },
  };
}

/** A hold until its batch is committed. An object instead of two functions, since every call has one. */
class PendingHold implements PendingStep {
  readonly step: StepOf<'hold'>;
  readonly #open: Set<string>;
  readonly #strays: StrayHolds;
  readonly #resolve: (hold: Hold) => void;
  readonly #reject: (cause: unknown) => void;

  constructor(
    step: StepOf<'hold'>,
    open: Set<string>,
    strays: StrayHolds,
    resolve: (hold: Hold) => void,
    reject: (cause: unknown) => void,
  ) {
    this.step = step;
    this.#open = open;
    this.#strays = strays;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  done(outcome: LedgerOutcome): void {
    const { hold } = this.step;
    if (outcome.type === 'held') this.#resolve(hold);
    else this.failed(refusal(outcome, hold.account, hold.amount));
  }

  failed(cause: unknown): void {
    const { hold } = this.step;
    this.#open.delete(hold.callId);
    // The commit may have succeeded: the connection broke before the answer.
    if (!(cause instanceof GatewayError) || cause.code === 'database_unavailable') this.#strays.doubt(hold);
    this.#reject(cause);
  }
}

/** A settlement until it is committed, in a later batch where the store fails. */
class PendingSettlement implements PendingStep, LateStep {
  readonly step: StepOf<'resolve'>;
  readonly #open: Set<string>;
  readonly #retries: RetryQueue;
  readonly #resolve: () => void;
  readonly #reject: (cause: unknown) => void;

  constructor(
    step: StepOf<'resolve'>,
    open: Set<string>,
    retries: RetryQueue,
    resolve: () => void,
    reject: (cause: unknown) => void,
  ) {
    this.step = step;
    this.#open = open;
    this.#retries = retries;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  done(outcome: LedgerOutcome): void {
    const { callId, amount, call } = this.step;
    this.#open.delete(callId);
    if (outcome.type === 'resolved') this.#resolve();
    else this.#reject(refusal(outcome, call.account, amount));
  }

  failed(cause: unknown): void {
    this.#retries.insist(this, cause);
  }

  expired(cause: unknown): void {
    this.#reject(cause);
  }
}

/** A negative amount would give money away: it is a bug of the caller. */
function refuseNegative(amount: Money): void {
  if (amount < 0n)
    throw new RangeError(`A call cannot have a negative cost, but this one has ${writeMoney(amount)} USD.`);
}

function refusal(outcome: LedgerOutcome, account: string, amount: Money): GatewayError {
  switch (outcome.type) {
    case 'unknown-account':
      return new GatewayError('not_found', `There is no account "${account}".`, { param: 'account' });
    case 'unknown-call':
      return new GatewayError('not_found', 'This account has no such call.', { param: 'call' });
    case 'refused':
      return uncovered(outcome, amount);
    case 'unredeemable':
      return new GatewayError(outcome.why === 'unknown' ? 'not_found' : 'conflict', UNREDEEMABLE[outcome.why], {
        param: 'code',
      });
    case 'beyond-charge':
      return new GatewayError(
        'invalid_request',
        `Of this call's charge, at most ${writeMoney(outcome.left)} USD can still be refunded.`,
        { param: 'amount' },
      );
    case 'other-entry':
      return new GatewayError(
        'conflict',
        `This Idempotency-Key was used for another entry, of ${writeMoney(outcome.entry.amount)} USD: use a new one.`,
        { param: 'idempotency-key' },
      );
    case 'out-of-range':
      return new GatewayError('invalid_request', 'The balance would exceed the maximum of an account.', {
        param: 'amount',
      });
    default:
      return new GatewayError('internal_error', 'The gateway had an internal error. Please try again.', {
        cause: new Error(`The store answered "${outcome.type}" to a step of another kind.`),
      });
  }
}

const UNREDEEMABLE = {
  unknown: 'There is no such code: check that it is complete.',
  expired: 'This code has expired.',
  redeemed: 'This code was already redeemed.',
} as const;

function uncovered(outcome: Extract<LedgerOutcome, { type: 'refused' }>, amount: Money): GatewayError {
  const cost = `This call may cost up to ${writeMoney(amount)} USD`;
  const left = writeMoney(outcome.available > 0n ? outcome.available : 0n);
  if (outcome.why === 'insufficient_balance') {
    const sentence = `${cost}, the balance has ${left} USD available: top up, or ask for less output.`;
    return new GatewayError(outcome.why, sentence);
  }
  const sentence = `${cost}, the ${outcome.of}'s budget has ${left} USD left: raise it, or ask for less output.`;
  return new GatewayError(outcome.why, sentence);
}

/** The settlement of a call whose process died: nothing if nothing was sent, otherwise the last checkpoint. */
function resolveAbandoned(hold: HoldRow, at: number): LedgerStep {
  const wasSent = hold.sentAt !== undefined;
  const cost = wasSent ? (hold.checkpoint ?? 0n) : 0n;
  const attempts = wasSent ? 1 : 0;
  return resolveUnseen(hold, at, { cost, outcome: 'interrupted', provisional: true, status: 0, attempts });
}

/** The call was refused because its hold could not be confirmed: it costs nothing. */
function resolveStray(hold: HoldRow, at: number): LedgerStep {
  const { code: errorCode, status } = databaseUnavailable(undefined);
  return resolveUnseen(hold, at, { cost: 0n, outcome: 'failed', status, errorCode, attempts: 0 });
}

function resolveUnseen(
  hold: HoldRow,
  at: number,
  known: Pick<CallRow, 'cost' | 'outcome' | 'provisional' | 'status' | 'attempts' | 'errorCode'>,
): LedgerStep {
  const call: CallRow = {
    id: hold.callId,
    account: hold.account,
    key: hold.key,
    at: hold.at,
    model: hold.model,
    provider: '',
    targetModel: '',
    dialect: '',
    upstreamDialect: '',
    stream: false,
    priceId: hold.priceId,
    durationMs: Math.max(0, at - hold.at),
    ...known,
  };
  return { type: 'resolve', callId: hold.callId, amount: known.cost, call };
}

/** A batch that fails is counted too: its duration is the time that calls have waited for it. */
function committing(store: Pick<Store, 'ledger'>, batchDone: LedgerSettings['batchDone']): Commit {
  if (!batchDone) return (steps, waits) => store.ledger(steps, waits);
  return async (steps, waits) => {
    const from = performance.now();
    try {
      return await store.ledger(steps, waits);
    } finally {
      batchDone(steps.length, performance.now() - from);
    }
  };
}
