/** What a batch of ledger steps does to what the database holds: the rules of money, the same over every engine. */
import type { Money } from '../canonical/money.ts';
import { entryHash } from './entry-hash.ts';
import { budgetLeft, noSpending, type Spending, spend, turnTo } from './spending.ts';
import type { CallRow, EntryRow, HeldFor, HoldRow, LedgerOutcome, LedgerStep } from './store.ts';

type StepOf<T extends LedgerStep['type']> = Extract<LedgerStep, { type: T }>;
export type MarkStep = StepOf<'mark'>;

/** The books of one account as the batch finds them and leaves them; what its keys together have spent among them. */
export interface AccountBooks extends Spending {
  readonly id: string;
  balance: Money;
  /** Seq and hash of the newest entry; 0 and CHAIN_START where there is none. */
  lastSeq: number;
  lastHash: string;
}

/** What the rules ask of the database, under the batch's lock. Each account and key is asked for once a batch. */
export interface LedgerView {
  account(id: string): AccountBooks | undefined;
  spending(key: string): Spending | undefined;
  /** Removes an open hold and returns it; `known`: what it is, if it is still there. */
  takeHold(callId: string, known: HeldFor | undefined): HeldFor | undefined;
  /** Cost of a recorded call. */
  callCost(callId: string): Money | undefined;
  entryByKey(account: string, idempotencyKey: string): EntryRow | undefined;
}

export interface RecordedCall {
  row: CallRow;
  /** The seq of the charge; `undefined` where nothing was charged. */
  entrySeq: number | undefined;
}

/** What the batch leaves to be written. */
export interface LedgerChanges {
  readonly accounts: Set<AccountBooks>;
  readonly spendings: Map<string, Spending>;
  readonly opened: Map<string, HoldRow>;
  readonly marks: MarkStep[];
  readonly entries: EntryRow[];
  readonly calls: RecordedCall[];
}

/** A batch being decided: what was read, and what is to be written. */
interface Batch extends LedgerChanges {
  readonly view: LedgerView;
  readonly books: Map<string, AccountBooks | undefined>;
}

/** Decides the steps in order, each seeing what those before it did. Writes nothing but what `takeHold` removes. */
export function applySteps(
  steps: readonly LedgerStep[],
  view: LedgerView,
): { outcomes: LedgerOutcome[]; changes: LedgerChanges } {
  const batch: Batch = {
    view,
    books: new Map(),
    accounts: new Set(),
    spendings: new Map(),
    opened: new Map(),
    marks: [],
    entries: [],
    calls: [],
  };
  return { outcomes: steps.map((step) => apply(batch, step)), changes: batch };
}

function apply(batch: Batch, step: LedgerStep): LedgerOutcome {
  switch (step.type) {
    case 'hold':
      return hold(batch, step);
    case 'mark':
      return mark(batch, step);
    case 'resolve':
      return resolve(batch, step);
    case 'enter':
      return enterOnce(batch, step);
    default:
      return step satisfies never;
  }
}

function hold(batch: Batch, { hold, budget, accountBudget }: StepOf<'hold'>): LedgerOutcome {
  const account = accountOf(batch, hold.account);
  if (!account) return { type: 'unknown-account' };
  const available = account.balance - account.held;
  if (hold.amount > available) return { type: 'refused', why: 'insufficient_balance', available };
  const spending = spendingOf(batch, hold.key);
  turnTo(spending, hold.at);
  turnTo(account, hold.at);
  const left = budget && budgetLeft(spending, budget);
  if (left !== undefined && hold.amount > left) {
    return { type: 'refused', why: 'budget_exhausted', of: 'key', available: left };
  }
  const leftOfAll = accountBudget && budgetLeft(account, accountBudget);
  if (leftOfAll !== undefined && hold.amount > leftOfAll) {
    return { type: 'refused', why: 'budget_exhausted', of: 'account', available: leftOfAll };
  }
  account.held += hold.amount;
  spending.held += hold.amount;
  batch.accounts.add(account);
  batch.opened.set(hold.callId, hold);
  return { type: 'held' };
}

/** The first `sentAt` stays, the greatest checkpoint counts. */
function mark(batch: Batch, step: MarkStep): LedgerOutcome {
  const hold = batch.opened.get(step.callId);
  if (!hold) {
    batch.marks.push(step);
    return { type: 'marked' };
  }
  const marked = { ...hold };
  if (step.sentAt !== undefined) marked.sentAt ??= step.sentAt;
  if (step.checkpoint !== undefined && step.checkpoint > (hold.checkpoint ?? 0n)) marked.checkpoint = step.checkpoint;
  batch.opened.set(step.callId, marked);
  return { type: 'marked' };
}

/** A call that never had a hold is recorded and charged all the same; one that is recorded stays as it is. */
function resolve(batch: Batch, { callId, amount, call, hold: known }: StepOf<'resolve'>): LedgerOutcome {
  const hold = takeHold(batch, callId, known);
  if (!hold) {
    const cost = batch.calls.find(({ row }) => row.id === callId)?.row.cost ?? batch.view.callCost(callId);
    if (cost !== undefined) return { type: 'resolved', repeated: true, amount: cost };
  }
  const account = accountOf(batch, hold?.account ?? call.account);
  if (!account) return { type: 'unknown-account' };
  const spending = spendingOf(batch, hold?.key ?? call.key);
  if (hold) {
    account.held -= hold.amount;
    spending.held -= hold.amount;
    batch.accounts.add(account);
  }
  let entrySeq: number | undefined;
  if (amount > 0n) {
    const at = call.at + Math.round(call.durationMs);
    spend(spending, amount, at);
    spend(account, amount, at);
    entrySeq = enter(batch, account, { kind: 'charge', amount: -amount, counter: 'revenue', callId, at }).seq;
  }
  batch.calls.push({ row: call.cost === amount ? call : { ...call, cost: amount }, entrySeq });
  return { type: 'resolved', repeated: false, amount };
}

function enterOnce(batch: Batch, step: StepOf<'enter'>): LedgerOutcome {
  const account = accountOf(batch, step.account);
  if (!account) return { type: 'unknown-account' };
  const { idempotencyKey } = step;
  if (idempotencyKey !== undefined) {
    const isFirst = (entry: EntryRow) => entry.account === account.id && entry.idempotencyKey === idempotencyKey;
    const first = batch.entries.find(isFirst) ?? batch.view.entryByKey(account.id, idempotencyKey);
    if (first) return { type: 'entered', entry: first, repeated: true };
  }
  return { type: 'entered', entry: enter(batch, account, step), repeated: false };
}

type EntryLine = Pick<EntryRow, 'kind' | 'amount' | 'counter' | 'callId' | 'note' | 'idempotencyKey' | 'at'>;

function enter(batch: Batch, account: AccountBooks, line: EntryLine): EntryRow {
  account.balance += line.amount;
  account.lastSeq += 1;
  const entry: Omit<EntryRow, 'hash'> = {
    account: account.id,
    seq: account.lastSeq,
    kind: line.kind,
    amount: line.amount,
    balanceAfter: account.balance,
    counter: line.counter,
    ...(line.callId !== undefined && { callId: line.callId }),
    ...(line.note !== undefined && { note: line.note }),
    ...(line.idempotencyKey !== undefined && { idempotencyKey: line.idempotencyKey }),
    at: line.at,
  };
  account.lastHash = entryHash(account.lastHash, entry);
  const hashed = { ...entry, hash: account.lastHash };
  batch.accounts.add(account);
  batch.entries.push(hashed);
  return hashed;
}

function takeHold(batch: Batch, callId: string, known: HeldFor | undefined): HeldFor | undefined {
  const hold = batch.opened.get(callId);
  if (!hold) return batch.view.takeHold(callId, known);
  batch.opened.delete(callId);
  return hold;
}

function accountOf(batch: Batch, id: string): AccountBooks | undefined {
  if (batch.books.has(id)) return batch.books.get(id);
  const account = batch.view.account(id);
  batch.books.set(id, account);
  return account;
}

function spendingOf(batch: Batch, key: string): Spending {
  let spending = batch.spendings.get(key);
  if (!spending) {
    spending = batch.view.spending(key) ?? noSpending();
    batch.spendings.set(key, spending);
  }
  return spending;
}
