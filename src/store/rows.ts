/** What the store keeps, row by row, and what it is asked. */
import type { FallbackReason } from '../canonical/fallback.ts';
import type { Money } from '../canonical/money.ts';
import type { Usage } from '../canonical/usage.ts';

/** How much may be called how fast; of a key, or of all keys of an account together. */
export interface Pace {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  /** Calls at once. */
  concurrency?: number;
}

export interface AccountRow extends Pace {
  id: string;
  name: string;
  /** Sum of the account's entries. */
  balance: Money;
  /** Sum of its open holds. */
  held: Money;
  createdAt: number;
  disabledAt?: number;
  /** What all its keys together may spend. */
  budget?: Budget;
}

/** A member that is absent stays as it is, `null` takes it away. */
export interface AccountChange {
  name?: string;
  disabledAt?: number | null;
  budget?: Budget | null;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  concurrency?: number | null;
}

export type KeyKind = 'caller' | 'admin';

/** A budget: how much a key may spend in all, per UTC day, per UTC month. */
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
  /** SHA-256 of the key, hex. */
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
  budget?: Budget;
  /** The hash it had before it was rotated, which opens until `priorUntil`. */
  priorHash?: string;
  priorUntil?: number;
}

/** A member that is absent stays as it is, `null` takes it away. */
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
  budget?: Budget | null;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  concurrency?: number | null;
  priorHash?: string | null;
  priorUntil?: number | null;
}

/** Something an admin has changed: who, what, when, and how it was before. Never a secret. */
export interface AuditRow {
  id: string;
  at: number;
  /** The admin key's id; `cli`, `start`, `file NAME FINGERPRINT` where no key was used. */
  actor: string;
  /** What was done: `key.created`, `model.changed` … */
  action: string;
  /** The id or name of what was changed. */
  subject: string;
  /** JSON text of an object; absent: there was, or is, none. */
  before?: string;
  after?: string;
}

/** Says how a change is kept on record, in the change's own transaction. `before` is absent of what was made, `after` of what was removed. */
export type Audit<Row> = (before: Row | undefined, after: Row | undefined) => AuditRow;

/** `completion`: what a call's true settlement adds to a provisional one, or gives back of it. */
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
  /** SHA-256 over the previous entry's hash and this entry's members, hex. */
  hash: string;
}

/** Credit that whoever knows the code may take, once. */
export interface CodeRow {
  id: string;
  /** SHA-256 of the code, hex. */
  hash: string;
  /** Last four characters, for display. */
  last4: string;
  amount: Money;
  note?: string;
  createdAt: number;
  expiresAt?: number;
  redeemedAt?: number;
  /** The account that has it. */
  redeemedBy?: string;
}

/** Money set aside for a call under way. */
export interface HoldRow {
  callId: string;
  account: string;
  key: string;
  amount: Money;
  model: string;
  /** Version of the price the call is charged by. */
  priceId: string;
  at: number;
  /** The process that holds it, so that a sweeper can tell a living one from a dead one. */
  owner: string;
  /** When the call first went upstream; absent: nothing has been sent. */
  sentAt?: number;
  /** What the call has cost so far at least, as last noted. */
  checkpoint?: Money;
}

/** What of a hold its resolution needs. */
export type HeldFor = Pick<HoldRow, 'account' | 'key' | 'amount'>;

export type CallOutcome = 'ok' | 'refused' | 'failed' | 'broken' | 'aborted' | 'interrupted' | 'disputed';

/** The record of one call: lean, written once, when it ends. */
export interface CallRow {
  id: string;
  account: string;
  key: string;
  at: number;
  model: string;
  provider: string;
  targetModel: string;
  /** The client's format and the upstream's. */
  dialect: string;
  upstreamDialect: string;
  stream: boolean;
  status: number;
  outcome: CallOutcome;
  errorCode?: string;
  /** Settled by another process for one that seemed dead: whoever held the call completes it, should it be alive. */
  provisional?: true;
  attempts: number;
  cost: Money;
  priceId: string;
  usage?: Usage;
  durationMs: number;
  firstByteMs?: number;
}

/** A price version: immutable; `components` is a Price as JSON text. */
export interface PriceRow {
  id: string;
  model: string;
  components: string;
  createdAt: number;
}

export interface ProviderRow {
  name: string;
  type: string;
  baseUrl?: string;
  credentials: string[];
  settings: { [name: string]: string };
}

export interface TargetRow {
  provider: string;
  model: string;
  priority: number;
  weight: number;
}

export interface FallbackRow {
  model: string;
  on: FallbackReason[];
}

export interface ModelRow {
  /** One that ends in `*` stands for all names beginning so. */
  name: string;
  /** Other names of the model. */
  aliases?: string[];
  /** Models that answer where this one cannot, in order. */
  fallbacks?: FallbackRow[];
  kind: string;
  priceId: string;
  maxOutputTokens?: number;
  contextTokens?: number;
  /** Images a call may ask for, where it is not as everywhere. */
  maxImages?: number;
  displayName?: string;
  ownedBy: string;
  /** What becomes of the upstream call when the client leaves. */
  onDisconnect: 'abort' | 'drain';
  createdAt: number;
  targets: TargetRow[];
}

/** One step of the ledger; a batch of them is one transaction, applied in order. */
export type LedgerStep =
  | { type: 'hold'; hold: HoldRow; budget?: Budget; accountBudget?: Budget }
  | { type: 'mark'; callId: string; account?: string; sentAt?: number; checkpoint?: Money }
  /** Ends a hold: charges `amount` (0n: releases it) and records the call. Who knows the hold spares the store a look.
   *  Of a call that was settled provisionally it enters the difference. */
  | { type: 'resolve'; callId: string; amount: Money; call: CallRow; hold?: HeldFor }
  | {
      type: 'enter';
      account: string;
      kind: EntryKind;
      amount: Money;
      counter: string;
      /** The call whose charge this corrects or gives back. */
      callId?: string;
      note?: string;
      idempotencyKey?: string;
      at: number;
      /** Keeps the entry on record as an admin's; a repeat enters nothing and records nothing. */
      audit?: Audit<EntryRow>;
    }
  /** Enters what the code with this hash is worth. */
  | { type: 'redeem'; account: string; hash: string; counter: string; at: number; audit?: Audit<EntryRow> };

export type LedgerOutcome =
  | { type: 'held' }
  | { type: 'refused'; why: 'insufficient_balance'; available: Money }
  | { type: 'refused'; why: 'budget_exhausted'; of: 'key' | 'account'; available: Money }
  | { type: 'marked' }
  /** `repeated`: the hold was resolved before, nothing changed now. */
  | { type: 'resolved'; repeated: boolean; amount: Money }
  | { type: 'entered'; entry: EntryRow; repeated: boolean }
  /** The idempotency key was used before, for another entry than this. */
  | { type: 'other-entry'; entry: EntryRow }
  /** The call was not charged so much, or what was charged has been given back. */
  | { type: 'beyond-charge'; left: Money }
  | { type: 'unredeemable'; why: 'unknown' | 'expired' | 'redeemed' }
  /** The balance would be larger than an account can hold. */
  | { type: 'out-of-range' }
  | { type: 'unknown-call' }
  /** The account is locked by another process, and the batch did not wait for it: nothing was done. */
  | { type: 'busy' }
  | { type: 'unknown-account' };

/** A page of a list: rows in a stable order, beginning after the row whose id is `after`. */
export interface Page {
  limit: number;
  after?: string;
}

export interface CallFilter extends Page {
  account?: string;
  key?: string;
  model?: string;
  outcome?: CallOutcome;
  from?: number;
  to?: number;
}

export interface UsageSum {
  group: string;
  calls: number;
  cost: Money;
  inputTokens: number;
  outputTokens: number;
}

/** What an empty database begins with. */
export interface FirstRows {
  account: AccountRow;
  steps: readonly LedgerStep[];
  keys: readonly KeyRow[];
  audits: readonly AuditRow[];
}
