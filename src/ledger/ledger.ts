/** The interface of the ledger: hold before the first byte is sent, settle exactly once whatever happens. */
import type { Money } from '../canonical/money.ts';
import type { Audit, Budget, CallRow, EntryRow, HoldRow } from '../store/rows.ts';
import type { VerifyReport } from '../store/verify/report.ts';

/** The owner of holds that outlive every process. Their creator ends them. */
export const LASTING_OWNER = 'tasks';

/**
 * `owner`: the owner, if it is not this process. With `sentAt` and `checkpoint` the call is sent right after the hold: one commit instead
 * of two.
 */
export type HoldRequest = Omit<HoldRow, 'owner'> & {
  owner?: string;
  budget?: Budget;
  accountBudget?: Budget;
};

/** Amounts in nano-USD. `checkpoint`: what is charged at least if the process dies now. `at`: milliseconds since 1970. */
export interface EnlargeRequest {
  by: Money;
  checkpoint: Money;
  at: number;
  budget?: Budget | undefined;
  accountBudget?: Budget | undefined;
}

/** Kinds of entries that admins make. */
export type MovingKind = 'top-up' | 'refund' | 'adjustment';

/** What is known about the process of an owner; `unknown`: only its lease decides. */
export type ProcessStatus = 'alive' | 'gone' | 'unknown';

/** An open hold, passed along with the call. */
export interface Hold {
  readonly callId: string;
  readonly account: string;
  readonly key: string;
  readonly amount: Money;
}

/** Amounts are nano-USD, times milliseconds since 1970. */
export interface Ledger {
  /**
   * Reserves the maximum cost. Throws GatewayError `insufficient_balance` or `budget_exhausted`; holds never exceed the balance. Throws
   * `database_unavailable` if the database does not answer or this process has no lease.
   */
  hold(request: HoldRequest): Promise<Hold>;
  /**
   * Adds `by` to the hold, and raises its checkpoint. Returns the larger hold; `undefined`: balance and budgets do not cover it, or the
   * hold is gone. Never rejects for a database that does not answer: the hold counts as it was.
   */
  enlarge(hold: Hold, request: EnlargeRequest): Promise<Hold | undefined>;
  /** Records that the call was sent: after a crash it is now settled instead of released. */
  sent(hold: Hold, at: number, cost: Money): Promise<void>;
  /** Records the minimum cost so far. Not awaited; written with the next batch. */
  checkpoint(hold: Hold, cost: Money): void;
  /**
   * Charges `call.cost` (0n releases the hold) and records the call. Idempotent. If the store fails, it is retried until it succeeds, and
   * awaited up to a limit.
   */
  settle(hold: Hold, call: CallRow): Promise<void>;
  /**
   * Adds or removes money; a top-up unless `kind` says otherwise. Throws GatewayError `not_found` for an unknown account or call. Repeating
   * the `idempotencyKey` returns the first entry, or throws `conflict` for a different one. Refunds are limited to the cost of the call.
   * `audit` writes the audit row in the same transaction.
   */
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
  /** Redeems the code with this hash, once. The same account gets the first entry again. Throws `not_found` or `conflict`. */
  redeem(account: string, hash: string, at: number, audit?: Audit<EntryRow>): Promise<EntryRow>;
  /** `undefined` if the account does not exist. */
  balance(account: string): Promise<{ available: Money; held: Money } | undefined>;
  verify(): Promise<VerifyReport>;
  /** Call every second: renews the lease. Rejects if the database does not answer. */
  renew(): Promise<void>;
  /** Whether this process could not renew its lease in time. Others may settle its calls, so it takes no new ones until it has a lease. */
  isFenced(): boolean;
  /** Throws `database_unavailable` if this process is fenced. */
  requireLease(): void;
  /**
   * Call every few seconds: renews the lease, and provisionally resolves the holds of dead processes: released if nothing was sent,
   * otherwise charged at their checkpoint. A process is dead if it has not renewed its lease for half a minute while this process watched,
   * or if `processStatusOf` knows so. Returns how many holds were resolved.
   */
  sweep(now: number, processStatusOf?: (owner: string) => ProcessStatus): Promise<number>;
  /** Waits until everything noted has been committed. */
  flush(): Promise<void>;
}
