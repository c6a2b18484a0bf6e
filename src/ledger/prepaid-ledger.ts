/** The Ledger over the Store: prepaid balances, every call held first and resolved exactly once. */
import { GatewayError } from '../canonical/errors.ts';
import { type Money, writeMoney } from '../canonical/money.ts';
import type { CallRow, EntryKind, HoldRow, LedgerOutcome, LedgerStep, Store } from '../store/store.ts';
import { createGroupCommit } from './group-commit.ts';
import type { Fate, Hold, HoldRequest, Ledger } from './ledger.ts';

export interface LedgerSettings {
  store: Store;
  /** Names this process among those that share the database: never used before, never again. */
  owner: string;
  /** This process's clock, for its signs of life. */
  now: () => number;
}

/** An owner without a sign of life for this long is dead. */
const OWNER_LIFE_MS = 30_000;

/** The other side of the double entry. */
const COUNTERS: { [kind in EntryKind]: string } = {
  'top-up': 'cash',
  charge: 'revenue',
  refund: 'revenue',
  adjustment: 'adjustments',
};

export function createLedger({ store, owner, now }: LedgerSettings): Ledger {
  const commits = createGroupCommit((steps) => store.ledger(steps));
  /** Settlements the store did not take: a full disk, a lock held too long. */
  const unsettled = new Set<LedgerStep>();
  let isFirstSweep = true;

  async function hold(request: HoldRequest): Promise<Hold> {
    const { callId, account, key, amount, model, priceId, at, budget, accountBudget } = request;
    refuseNegative(amount);
    const row: HoldRow = { callId, account, key, amount, model, priceId, at, owner };
    if (request.sentAt !== undefined) row.sentAt = request.sentAt;
    if (request.checkpoint !== undefined) row.checkpoint = request.checkpoint;
    const step: LedgerStep = { type: 'hold', hold: row };
    if (budget) step.budget = budget;
    if (accountBudget) step.accountBudget = accountBudget;
    const outcome = await commits.submit(step);
    if (outcome.type !== 'held') throw refusal(outcome, account, amount);
    return row;
  }

  async function settle(hold: Hold, call: CallRow): Promise<void> {
    refuseNegative(call.cost);
    commits.forget(hold.callId);
    const step: LedgerStep = { type: 'resolve', callId: hold.callId, amount: call.cost, call, hold };
    let outcome: LedgerOutcome;
    try {
      outcome = await commits.submit(step);
    } catch (cause) {
      unsettled.add(step);
      throw cause;
    }
    if (outcome.type !== 'resolved') throw refusal(outcome, hold.account, call.cost);
  }

  /** Resolving twice changes nothing, so what failed may be tried again. */
  async function settleAgain(): Promise<void> {
    for (const step of [...unsettled]) {
      await commits.submit(step);
      unsettled.delete(step);
    }
  }

  async function sweep(at: number, fateOf: (owner: string) => Fate = () => 'unknown'): Promise<number> {
    await settleAgain();
    await store.heartbeat(owner, now());
    const silent = new Set(await store.deadOwners(at - OWNER_LIFE_MS));
    if (silent.size === 0 && !isFirstSweep) return 0;
    isFirstSweep = false;
    const isDead = (other: string) => {
      const fate = other === owner ? 'alive' : fateOf(other);
      return fate === 'gone' || (fate === 'unknown' && silent.has(other));
    };
    const steps = (await store.holds()).filter((hold) => isDead(hold.owner)).map((hold) => resolveAbandoned(hold, at));
    const outcomes = await Promise.all(steps.map(commits.submit));
    return outcomes.filter((outcome) => outcome.type === 'resolved' && !outcome.repeated).length;
  }

  return {
    hold,
    settle,
    sweep,
    async sent({ callId }, sentAt, checkpoint) {
      await commits.submit({ type: 'mark', callId, sentAt, checkpoint });
    },
    checkpoint: ({ callId }, checkpoint) => commits.note({ type: 'mark', callId, checkpoint }),
    async topUp(account, amount, { kind = 'top-up', ...detail }) {
      const counter = COUNTERS[kind];
      const outcome = await commits.submit({ type: 'enter', account, kind, amount, counter, ...detail });
      if (outcome.type !== 'entered') throw refusal(outcome, account, amount);
      return outcome.entry;
    },
    async balance(id) {
      const account = await store.account(id);
      return account && { available: account.balance - account.held, held: account.held };
    },
    verify: () => store.verify(),
    flush: () => commits.flush(),
  };
}

/** A negative amount would give money away: whoever computed it is wrong. */
function refuseNegative(amount: Money): void {
  if (amount < 0n)
    throw new RangeError(`A call cannot cost less than nothing, this one says ${writeMoney(amount)} USD.`);
}

function refusal(outcome: LedgerOutcome, account: string, amount: Money): GatewayError {
  if (outcome.type === 'unknown-account') return new GatewayError('not_found', `There is no account "${account}".`);
  if (outcome.type !== 'refused') {
    return new GatewayError('internal_error', 'The gateway failed on its own side. Please try again.', {
      cause: new Error(`The store answered "${outcome.type}" to a step of another kind.`),
    });
  }
  const cost = `This call may cost up to ${writeMoney(amount)} USD`;
  const left = writeMoney(outcome.available > 0n ? outcome.available : 0n);
  if (outcome.why === 'insufficient_balance') {
    const sentence = `${cost}, the balance has ${left} USD available: top up, or ask for less output.`;
    return new GatewayError(outcome.why, sentence);
  }
  const sentence = `${cost}, the ${outcome.of}'s budget has ${left} USD left: raise it, or ask for less output.`;
  return new GatewayError(outcome.why, sentence);
}

/** What is known of a call whose process died: nothing was charged where nothing was sent, else what the hold last noted. */
function resolveAbandoned(hold: HoldRow, at: number): LedgerStep {
  const wasSent = hold.sentAt !== undefined;
  const amount = wasSent ? (hold.checkpoint ?? 0n) : 0n;
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
    status: 0,
    outcome: 'interrupted',
    attempts: wasSent ? 1 : 0,
    cost: amount,
    priceId: hold.priceId,
    durationMs: at - hold.at,
  };
  return { type: 'resolve', callId: hold.callId, amount, call };
}
