/** What it costs: hold before the first byte goes upstream, resolve exactly once whatever happens after. */
import type { Money } from '../canonical/money.ts';
import type { Audit, Budget, CallRow, EntryRow, HoldRow } from '../store/store.ts';
import type { VerifyReport } from '../store/verify/report.ts';

/** An owner that is no process: its holds outlive every one, and who made them ends them. */
export const LASTING_OWNER = 'tasks';

/** `owner`: whose it is, where not this process's. With `sentAt` and `checkpoint` the call goes upstream the moment it is held: one commit instead of two. */
export type HoldRequest = Omit<HoldRow, 'owner'> & {
  owner?: string;
  budget?: Budget;
  accountBudget?: Budget;
};

/** What people enter by hand. */
export type MovingKind = 'top-up' | 'refund' | 'adjustment';

/** What is known of the process behind an owner; `unknown`: only its signs of life tell. */
export type ProcessStatus = 'alive' | 'gone' | 'unknown';

/** An open hold, as the call's way carries it along. */
export interface Hold {
  readonly callId: string;
  readonly account: string;
  readonly key: string;
  readonly amount: Money;
}

export interface Ledger {
  /** Throws GatewayError `insufficient_balance` or `budget_exhausted`; no more is ever held than the balance covers. `database_unavailable`
   *  where the database does not answer, or this process has no lease. */
  hold(request: HoldRequest): Promise<Hold>;
  /** Notes that the call has gone upstream: from now on a crash settles it instead of releasing it. */
  sent(hold: Hold, at: number, cost: Money): Promise<void>;
  /** Notes what the call has cost so far at least; not awaited, joins the next batch. */
  checkpoint(hold: Hold, cost: Money): void;
  /** Charges `call.cost` (0n: releases the hold) and records the call. Idempotent: a second one changes nothing. Where the store
   *  does not take it, it is tried again until it does, and waited for within bounds. */
  settle(hold: Hold, call: CallRow): Promise<void>;
  /** Moves money, in unless `kind` says otherwise. Throws GatewayError `not_found` where there is no such account or call; the same
   *  `idempotencyKey` again is the first entry, for another entry it throws `conflict`. A call is not refunded more than it cost.
   *  `audit` keeps a new entry on record, in its own transaction. */
  topUp(
    account: string,
    amount: Money,
    detail: {
      note?: string;
      idempotencyKey?: string;
      kind?: MovingKind;
      callId?: string;
      at: number;
      audit?: Audit<EntryRow>;
    },
  ): Promise<EntryRow>;
  /** Enters what the code with this hash is worth, once; who has redeemed it gets the first entry again. Throws `not_found` or `conflict`. */
  redeem(account: string, hash: string, at: number, audit?: Audit<EntryRow>): Promise<EntryRow>;
  /** `undefined` where there is no such account. */
  balance(account: string): Promise<{ available: Money; held: Money } | undefined>;
  verify(): Promise<VerifyReport>;
  /** Due every second: shows that this process lives. Rejects where the database does not answer. */
  renew(): Promise<void>;
  /** This process could not renew its lease in time, and another may settle its calls: it takes no new ones until it has a lease. */
  isFenced(): boolean;
  /** Throws `database_unavailable` where this process is fenced. */
  requireLease(): void;
  /** Due every few seconds: renews this process's lease, and resolves the holds of dead ones, provisionally: released where
   *  nothing was sent, else charged at their checkpoint. Dead is who does not renew its lease for half a minute while this process
   *  watches; `processStatusOf` knows more of an owner than its signs tell. Returns how many holds were resolved. */
  sweep(now: number, processStatusOf?: (owner: string) => ProcessStatus): Promise<number>;
  /** Waits until everything noted has been committed. */
  flush(): Promise<void>;
}
