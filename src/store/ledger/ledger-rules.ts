/** The rules of the ledger: what a batch of steps changes. The same for both database engines. */
import type { Money } from '../../canonical/money.ts';
import type {
  AuditRow,
  Budget,
  CallRow,
  CodeRow,
  EntryKind,
  EntryRow,
  HeldFor,
  HoldRow,
  LedgerOutcome,
  LedgerStep,
  StepOf,
} from '../rows.ts';
import type { CompletedCall, FormerCall, RecordedCall } from '../sums/call-sums.ts';
import { type Tokens, tokensOf } from '../sums/call-sums.ts';
import { completionAudit } from './completion-audit.ts';
import { entryHash } from './entry-hash.ts';
import { budgetLeft, noSpending, type Spending, spend, spendMore, turnTo } from './spending.ts';

/** `amount`: of a hold that was enlarged. */
export type MarkStep = StepOf<'mark'> & { amount?: Money };

/** The balances of one account before and after the batch, including the spending of all its keys. */
export interface AccountBooks extends Spending {
  readonly id: string;
  balance: Money;
  /** Seq and hash of the newest entry; 0 and CHAIN_START if there is none. */
  lastSeq: number;
  lastHash: string;
}

/** What the rules read from the database, under the lock of the batch. Each account and key is read once per batch. */
export interface LedgerView {
  account(id: string): AccountBooks | undefined;
  spending(key: string): Spending | undefined;
  /** Removes an open hold and returns it. `known`: the hold, if the caller knows it. */
  takeHold(callId: string, known: HeldFor | undefined): HeldFor | undefined;
  /** An open hold that the batch has not removed. */
  openHold(callId: string): HeldFor | undefined;
  call(callId: string): FormerCall | undefined;
  /** The sum of corrections and refunds of a call. */
  corrections(callId: string): Money;
  entryByKey(account: string, idempotencyKey: string): EntryRow | undefined;
  code(hash: string): CodeRow | undefined;
}

/** Far below the largest database integer, so that sums of amounts cannot overflow. */
const LARGEST_BALANCE: Money = 2n ** 62n;

export interface RedeemedCode {
  hash: string;
  account: string;
  at: number;
}

/** What the batch has to write. */
export interface LedgerChanges {
  readonly accounts: Set<AccountBooks>;
  readonly spendings: Map<string, Spending>;
  readonly opened: Map<string, HoldRow>;
  readonly marks: MarkStep[];
  readonly entries: EntryRow[];
  readonly calls: RecordedCall[];
  readonly completed: CompletedCall[];
  readonly redeemed: RedeemedCode[];
  readonly audits: AuditRow[];
}

/** A batch in progress: what was read, and what to write. */
interface Batch extends LedgerChanges {
  readonly view: LedgerView;
  readonly books: Map<string, AccountBooks | undefined>;
  /** The amounts of holds that the batch has enlarged. */
  readonly enlarged: Map<string, Money>;
}

/** Applies the steps in order; each sees the effect of the previous ones. Writes nothing, except that `takeHold` removes holds. */
export function applySteps(
  steps: readonly LedgerStep[],
  view: LedgerView,
): { outcomes: LedgerOutcome[]; changes: LedgerChanges } {
  const batch: Batch = {
    view,
    books: new Map(),
    enlarged: new Map(),
    accounts: new Set(),
    spendings: new Map(),
    opened: new Map(),
    marks: [],
    entries: [],
    calls: [],
    completed: [],
    redeemed: [],
    audits: [],
  };
  return { outcomes: steps.map((step) => apply(batch, step)), changes: batch };
}

function apply(batch: Batch, step: LedgerStep): LedgerOutcome {
  switch (step.type) {
    case 'hold':
      return hold(batch, step);
    case 'mark':
      return mark(batch, step);
    case 'enlarge':
      return enlarge(batch, step);
    case 'resolve':
      return resolve(batch, step);
    case 'enter':
      return enterOnce(batch, step);
    case 'redeem':
      return redeem(batch, step);
    default:
      return step satisfies never;
  }
}

const HELD: LedgerOutcome = { type: 'held' };

function hold(batch: Batch, { hold, budget, accountBudget }: StepOf<'hold'>): LedgerOutcome {
  const account = accountOf(batch, hold.account);
  if (!account) return { type: 'unknown-account' };
  const refusal = reserve(batch, account, { key: hold.key, amount: hold.amount, at: hold.at, budget, accountBudget });
  if (refusal) return refusal;
  batch.opened.set(hold.callId, hold);
  return HELD;
}

function enlarge(batch: Batch, step: StepOf<'enlarge'>): LedgerOutcome {
  const { callId, checkpoint, at, budget, accountBudget } = step;
  const hold = batch.opened.get(callId) ?? batch.view.openHold(callId);
  if (!hold) return { type: 'unknown-call' };
  const account = accountOf(batch, hold.account);
  if (!account) return { type: 'unknown-account' };
  const refusal = reserve(batch, account, { key: hold.key, amount: step.by, at, budget, accountBudget });
  if (refusal) return refusal;
  const opened = batch.opened.get(callId);
  const amount = (opened?.amount ?? batch.enlarged.get(callId) ?? hold.amount) + step.by;
  if (opened) batch.opened.set(callId, { ...opened, amount });
  else {
    batch.enlarged.set(callId, amount);
    batch.marks.push({ type: 'mark', callId, amount });
  }
  mark(batch, { type: 'mark', callId, checkpoint });
  return { type: 'enlarged', amount };
}

interface Reserved {
  key: string;
  amount: Money;
  at: number;
  budget: Budget | undefined;
  accountBudget: Budget | undefined;
}

/** Adds the amount to what the account and the key hold; returns why not, if balance or budgets do not cover it. */
function reserve(
  batch: Batch,
  account: AccountBooks,
  { key, amount, at, budget, accountBudget }: Reserved,
): LedgerOutcome | undefined {
  const available = account.balance - account.held;
  if (amount > available) return { type: 'refused', why: 'insufficient_balance', available };
  const spending = spendingOf(batch, key);
  turnTo(spending, at);
  // Also for refused holds: a clock that stays behind is accepted after some time.
  if (turnTo(account, at)) batch.accounts.add(account);
  const left = budget && budgetLeft(spending, budget, at);
  if (left !== undefined && amount > left) {
    return { type: 'refused', why: 'budget_exhausted', of: 'key', available: left };
  }
  const leftOfAll = accountBudget && budgetLeft(account, accountBudget, at);
  if (leftOfAll !== undefined && amount > leftOfAll) {
    return { type: 'refused', why: 'budget_exhausted', of: 'account', available: leftOfAll };
  }
  account.held += amount;
  spending.held += amount;
  batch.accounts.add(account);
  return undefined;
}

/** The first `sentAt` is kept, and the largest checkpoint. */
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

/** A call without a hold is recorded and charged too. A recorded call is not changed, unless its record is provisional. */
function resolve(batch: Batch, { callId, amount, call, hold: known }: StepOf<'resolve'>): LedgerOutcome {
  const hold = takeHold(batch, callId, known);
  if (!hold) {
    const recorded = callOf(batch, callId);
    if (recorded?.isProvisional && !call.provisional) return complete(batch, recorded, call, amount);
    if (recorded) return { type: 'resolved', repeated: true, amount: recorded.cost };
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
  const row = call.cost === amount ? call : { ...call, cost: amount };
  batch.calls.push({ row, entrySeq, completionSeq: undefined, tokens: tokensOf(row) });
  return { type: 'resolved', repeated: false, amount };
}

/**
 * Replaces the provisional settlement that another process made for a call. The difference becomes an entry, and record and sums are
 * updated. The hold is gone, so the difference may make the balance negative.
 */
function complete(batch: Batch, before: FormerCall, call: CallRow, amount: Money): LedgerOutcome {
  const account = accountOf(batch, before.account);
  if (!account) return { type: 'unknown-account' };
  const { key, model, at } = before;
  const row: CallRow = { ...call, account: account.id, key, model, at, cost: amount };
  const endedAt = call.at + Math.round(call.durationMs);
  const difference = amount - before.cost;
  let completionSeq: number | undefined;
  if (difference !== 0n) {
    spendMore(spendingOf(batch, key), difference, before.endedAt, endedAt);
    spendMore(account, difference, before.endedAt, endedAt);
    const line: EntryLine = {
      kind: 'completion',
      amount: -difference,
      counter: 'revenue',
      callId: row.id,
      note: 'settled by the process that held the call',
      at: endedAt,
    };
    completionSeq = enter(batch, account, line).seq;
  }
  const tokens = tokensOf(row);
  const fresh = batch.calls.find((one) => one.row.id === row.id);
  if (fresh) Object.assign(fresh, { row, completionSeq, tokens });
  else batch.completed.push({ row, completionSeq, tokens, before });
  // Also if the difference is zero: the account's version protects the record.
  batch.accounts.add(account);
  batch.audits.push(completionAudit(before, row, endedAt));
  return { type: 'resolved', repeated: false, amount };
}

function enterOnce(batch: Batch, step: StepOf<'enter'>): LedgerOutcome {
  const account = accountOf(batch, step.account);
  if (!account) return { type: 'unknown-account' };
  const { idempotencyKey } = step;
  if (idempotencyKey !== undefined) {
    const isFirst = (entry: EntryRow) => entry.account === account.id && entry.idempotencyKey === idempotencyKey;
    const first = batch.entries.find(isFirst) ?? batch.view.entryByKey(account.id, idempotencyKey);
    if (first)
      return isOf(first, step)
        ? { type: 'entered', entry: first, repeated: true }
        : { type: 'other-entry', entry: first };
  }
  const balance = account.balance + step.amount;
  if (balance > LARGEST_BALANCE || balance < -LARGEST_BALANCE) return { type: 'out-of-range' };
  if (step.callId !== undefined) {
    const call = callOf(batch, step.callId);
    if (call?.account !== account.id) return { type: 'unknown-call' };
    const left = call.cost - correctionsOf(batch, step.callId);
    if (step.kind === 'refund' && step.amount > left) return { type: 'beyond-charge', left };
  }
  const entry = enter(batch, account, step);
  if (step.audit) batch.audits.push(step.audit(undefined, entry));
  return { type: 'entered', entry, repeated: false };
}

/** Whether the entry is the one that the step would make, whatever its time. */
function isOf(entry: EntryRow, step: StepOf<'enter'>): boolean {
  const isSame = entry.kind === step.kind && entry.amount === step.amount && entry.counter === step.counter;
  return isSame && entry.callId === step.callId && entry.note === step.note;
}

/** Redeeming a code again for the same account returns the first entry. */
function redeem(batch: Batch, step: StepOf<'redeem'>): LedgerOutcome {
  const account = accountOf(batch, step.account);
  if (!account) return { type: 'unknown-account' };
  const code = batch.view.code(step.hash);
  if (!code) return { type: 'unredeemable', why: 'unknown' };
  const redeemedBy = code.redeemedBy ?? batch.redeemed.find(({ hash }) => hash === step.hash)?.account;
  const enterCode: StepOf<'enter'> = {
    type: 'enter',
    account: account.id,
    kind: 'redemption',
    amount: code.amount,
    counter: step.counter,
    note: `code ${code.id}`,
    idempotencyKey: `code:${code.id}`,
    at: step.at,
    ...(step.audit && { audit: step.audit }),
  };
  if (redeemedBy === account.id) return enterOnce(batch, enterCode);
  if (redeemedBy !== undefined) return { type: 'unredeemable', why: 'redeemed' };
  if (code.expiresAt !== undefined && code.expiresAt <= step.at) return { type: 'unredeemable', why: 'expired' };
  const outcome = enterOnce(batch, enterCode);
  if (outcome.type === 'entered') batch.redeemed.push({ hash: step.hash, account: account.id, at: step.at });
  return outcome;
}

function callOf(batch: Batch, callId: string): FormerCall | undefined {
  const here = batch.calls.find(({ row }) => row.id === callId) ?? batch.completed.find(({ row }) => row.id === callId);
  return here ? formerOf(here.row, here.tokens) : batch.view.call(callId);
}

function formerOf(row: CallRow, tokens: Tokens): FormerCall {
  const { account, key, model, at, cost, provider, providerCost, outcome, saved = 0n } = row;
  const endedAt = at + Math.round(row.durationMs);
  const isProvisional = row.provisional === true;
  return { account, key, model, at, endedAt, cost, provider, providerCost, outcome, saved, tokens, isProvisional };
}

function correctionsOf(batch: Batch, callId: string): Money {
  const here = batch.entries.filter((entry) => entry.callId === callId && !isOfBill(entry.kind));
  return here.reduce((sum, { amount }) => sum + amount, batch.view.corrections(callId));
}

/** The cost of a call is its charge plus its completion. */
export const isOfBill = (kind: EntryKind): boolean => kind === 'charge' || kind === 'completion';

type EntryLine = Pick<EntryRow, 'kind' | 'amount' | 'counter' | 'callId' | 'note' | 'idempotencyKey' | 'at'>;

function enter(batch: Batch, account: AccountBooks, line: EntryLine): EntryRow {
  account.balance += line.amount;
  account.lastSeq += 1;
  const entry: EntryRow = {
    account: account.id,
    seq: account.lastSeq,
    kind: line.kind,
    amount: line.amount,
    balanceAfter: account.balance,
    counter: line.counter,
    at: line.at,
    hash: '',
  };
  if (line.callId !== undefined) entry.callId = line.callId;
  if (line.note !== undefined) entry.note = line.note;
  if (line.idempotencyKey !== undefined) entry.idempotencyKey = line.idempotencyKey;
  entry.hash = entryHash(account.lastHash, entry);
  account.lastHash = entry.hash;
  batch.accounts.add(account);
  batch.entries.push(entry);
  return entry;
}

function takeHold(batch: Batch, callId: string, known: HeldFor | undefined): HeldFor | undefined {
  const opened = batch.opened.get(callId);
  if (opened) {
    batch.opened.delete(callId);
    return opened;
  }
  const hold = batch.view.takeHold(callId, known);
  // The database still has the amount from before the batch.
  const amount = batch.enlarged.get(callId);
  return hold && amount !== undefined ? { ...hold, amount } : hold;
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
