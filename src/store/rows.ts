/** The rows of the store and the filters of its queries. */
import type { CaptureMode } from '../canonical/capture-mode.ts';
import type { Money } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';

/** Rate limits of a key, or of all keys of an account together. */
export interface Pace {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  /** Concurrent calls. */
  concurrency?: number;
}

export interface AccountRow extends Pace {
  id: string;
  name: string;
  /** The sum of the account's entries. */
  balance: Money;
  /** The sum of its open holds. */
  held: Money;
  createdAt: number;
  disabledAt?: number;
  /** The budget for all its keys together. */
  budget?: Budget;
  priceGroup?: string;
  /** The factor of its price group, a decimal. */
  priceFactor?: string;
}

/** Absent members stay unchanged; `null` removes a value. */
export interface AccountChange {
  name?: string;
  disabledAt?: number | null;
  priceGroup?: string | null;
  budget?: Budget | null;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  concurrency?: number | null;
}

export type KeyKind = 'caller' | 'admin';

/** A budget: the maximum that a key may spend in total, per UTC day, and per UTC month. */
export interface Budget {
  total?: Money;
  day?: Money;
  month?: Money;
}

export interface KeyRow extends Pace {
  id: string;
  account: string;
  kind: KeyKind;
  name: string;
  /** SHA-256 of the key, in hex. */
  hash: string;
  /** Last four characters, for display. */
  last4: string;
  createdAt: number;
  expiresAt?: number;
  disabledAt?: number;
  models?: string[];
  /** CIDR ranges. */
  addresses?: string[];
  scopes?: string[];
  /** Names that mean another model to this key. */
  aliases?: { [name: string]: string };
  /** Whether its requests may say which models and providers answer; absent: they may. */
  callerRouting?: boolean;
  /** The same request is answered from the cache by replies up to this age. Absent: no cache. */
  cacheSeconds?: number;
  /** What is stored of its calls; absent: the setting of the model. */
  capture?: CaptureMode;
  budget?: Budget;
  /** The hash before the last rotation. It is valid until `priorUntil`. */
  priorHash?: string;
  priorUntil?: number;
}

/** Absent members stay unchanged; `null` removes a value. */
export interface KeyChange {
  name?: string;
  hash?: string;
  last4?: string;
  expiresAt?: number | null;
  disabledAt?: number | null;
  models?: string[] | null;
  addresses?: string[] | null;
  scopes?: string[] | null;
  aliases?: { [name: string]: string } | null;
  callerRouting?: boolean | null;
  cacheSeconds?: number | null;
  capture?: CaptureMode | null;
  budget?: Budget | null;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  concurrency?: number | null;
  priorHash?: string | null;
  priorUntil?: number | null;
}

/** One change by an admin: who, what, when, and the values before and after. Contains no secrets. */
export interface AuditRow {
  id: string;
  at: number;
  /** The id of the admin key, or `cli`, `start`, `file NAME FINGERPRINT` if no key was used. */
  actor: string;
  /** The action: `key.created`, `model.changed` … */
  action: string;
  /** The id or name of what was changed. */
  subject: string;
  /** An object as JSON text. Absent: it did not exist before, or does not exist after. */
  before?: string;
  after?: string;
}

/** Makes the audit row of a change, written in the same transaction. `before` is absent for a creation, `after` for a removal. */
export type Audit<Row> = (before: Row | undefined, after: Row | undefined) => AuditRow;

/** `completion`: the difference between a call's final and provisional settlement. */
export type EntryKind = 'top-up' | 'charge' | 'completion' | 'refund' | 'adjustment' | 'redemption';

/** One line of an account's ledger. `counter` is the other side of the double entry (`cash`, `revenue`, `adjustments`, `codes`). */
export interface EntryRow {
  account: string;
  /** 1, 2, 3 … within the account. */
  seq: number;
  kind: EntryKind;
  /** Signed: a charge is negative. */
  amount: Money;
  balanceAfter: Money;
  counter: string;
  callId?: string;
  note?: string;
  idempotencyKey?: string;
  at: number;
  /** SHA-256 over the previous entry's hash and this entry's members, in hex. */
  hash: string;
}

/** A redemption code: credit that one account can take once. */
export interface CodeRow {
  id: string;
  /** SHA-256 of the code, in hex. */
  hash: string;
  /** Last four characters, for display. */
  last4: string;
  amount: Money;
  note?: string;
  createdAt: number;
  expiresAt?: number;
  redeemedAt?: number;
  /** The account that redeemed it. */
  redeemedBy?: string;
}

/** Money reserved for a call in progress. */
export interface HoldRow {
  callId: string;
  account: string;
  key: string;
  amount: Money;
  model: string;
  /** The price version by which the call is charged. */
  priceId: string;
  at: number;
  /** The process that owns the hold. A sweeper checks whether it is still alive. */
  owner: string;
  /** When the call was first sent to a provider. Absent: nothing was sent. */
  sentAt?: number;
  /** The minimum cost of the call so far. */
  checkpoint?: Money;
}

/** The parts of a hold that are needed to resolve it. */
export type HeldFor = Pick<HoldRow, 'account' | 'key' | 'amount'>;

export type CallOutcome = 'ok' | 'refused' | 'failed' | 'broken' | 'aborted' | 'interrupted' | 'disputed';

/** The record of a call, written once when it ends. */
export interface CallRow {
  id: string;
  account: string;
  key: string;
  at: number;
  model: string;
  provider: string;
  targetModel: string;
  /** The client's format and the provider's. */
  dialect: string;
  upstreamDialect: string;
  stream: boolean;
  status: number;
  outcome: CallOutcome;
  errorCode?: string;
  /** Settled by another process because the owner seemed dead. If the owner is alive, it completes the settlement. */
  provisional?: true;
  attempts: number;
  cost: Money;
  priceId: string;
  /** What the provider charges for it. Absent: not known. */
  providerCost?: Money;
  usage?: Usage;
  /** What the same tokens would have cost without caches, minus `cost`; negative where writing a cache cost more. Absent: 0. */
  saved?: Money;
  durationMs: number;
  firstByteMs?: number;
  /** What its sender files it under. */
  tags?: readonly string[];
  /** Its receipt as JSON text, of admitted calls as `telemetry/receipt.ts` writes it. Lists leave it out. */
  receipt?: string;
}

export type StepOf<T extends LedgerStep['type']> = Extract<LedgerStep, { type: T }>;

/** One step of the ledger. A batch of steps is one transaction, applied in order. */
export type LedgerStep =
  | { type: 'hold'; hold: HoldRow; budget?: Budget; accountBudget?: Budget }
  | { type: 'mark'; callId: string; account?: string; sentAt?: number; checkpoint?: Money }
  /** Adds `by` to an open hold, under the same conditions as a hold. */
  | {
      type: 'enlarge';
      callId: string;
      account: string;
      key: string;
      by: Money;
      checkpoint: Money;
      at: number;
      budget?: Budget;
      accountBudget?: Budget;
    }
  /**
   * Ends a hold: charges `amount` (0n releases it) and records the call. Passing the hold saves a read. For a provisionally settled call it
   * enters the difference.
   */
  | { type: 'resolve'; callId: string; amount: Money; call: CallRow; hold?: HeldFor }
  | {
      type: 'enter';
      account: string;
      kind: EntryKind;
      amount: Money;
      counter: string;
      /** The call whose charge is corrected or refunded. */
      callId?: string;
      note?: string;
      idempotencyKey?: string;
      at: number;
      /** Writes the entry to the audit log. A repeated request writes neither. */
      audit?: Audit<EntryRow>;
    }
  /** Enters the value of the code with this hash. */
  | { type: 'redeem'; account: string; hash: string; counter: string; at: number; audit?: Audit<EntryRow> };

export type LedgerOutcome =
  | { type: 'held' }
  | { type: 'refused'; why: 'insufficient_balance'; available: Money }
  | { type: 'refused'; why: 'budget_exhausted'; of: 'key' | 'account'; available: Money }
  | { type: 'marked' }
  /** `amount`: of the whole hold. */
  | { type: 'enlarged'; amount: Money }
  /** `repeated`: the hold was already resolved, and nothing changed. */
  | { type: 'resolved'; repeated: boolean; amount: Money }
  | { type: 'entered'; entry: EntryRow; repeated: boolean }
  /** The idempotency key was used before for another entry. */
  | { type: 'other-entry'; entry: EntryRow }
  /** More than the call's charge minus earlier refunds. */
  | { type: 'beyond-charge'; left: Money }
  | { type: 'unredeemable'; why: 'unknown' | 'expired' | 'redeemed' }
  /** The balance would exceed the maximum of an account. */
  | { type: 'out-of-range' }
  | { type: 'unknown-call' }
  /** The account is locked by another process and the batch did not wait: nothing was done. */
  | { type: 'busy' }
  | { type: 'unknown-account' };

/** A page of a list: rows in a stable order, starting after the row with the id `after`. */
export interface Page {
  limit: number;
  after?: string;
}

export interface CallFilter extends Omit<Page, 'after'> {
  /** The id of a call, or its place in the list, which holds after the call was removed as well. */
  after?: string | CallPlace;
  account?: string;
  key?: string;
  model?: string;
  provider?: string;
  status?: number;
  outcome?: CallOutcome;
  /** The code of its error. */
  error?: string;
  tag?: string;
  /** The call cost more than this. */
  costAbove?: Money;
  from?: number;
  to?: number;
}

/** Where a call is in a list, newest first. */
export interface CallPlace {
  at: number;
  id: string;
}

/** What sums of usage are for. */
export type UsageGroup = 'account' | 'key' | 'model' | 'provider' | 'tag' | 'hour';

/** One row of a report: the requested groups, and their figures. */
export interface UsageSum extends UsageFigures {
  account?: string;
  key?: string;
  model?: string;
  provider?: string;
  tag?: string;
  /** Its beginning. */
  hour?: number;
  /** The beginning of the period. */
  period?: number;
}

/** The figures of several calls together. */
export interface UsageFigures {
  calls: number;
  cost: Money;
  inputTokens: number;
  outputTokens: number;
  /** What caches have saved. */
  saved: Money;
  /** What the providers charge for those of the calls for which that is known. */
  providerCost: Money;
  /** How many they are, and what was charged for them. */
  costedCalls: number;
  costedCharge: Money;
}

/** The initial content of an empty database. */
export interface FirstRows {
  account: AccountRow;
  steps: readonly LedgerStep[];
  keys: readonly KeyRow[];
  audits: readonly AuditRow[];
}
