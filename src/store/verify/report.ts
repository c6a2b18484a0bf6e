/** What a verification of the books finds. */
import type { Money } from '../../canonical/money.ts';

/** `entry`, `charge`, `call`, `end`, `stranger`, `homeless` and `checkpoint` need a person; the others follow from what is right beside them. */
export type FindingKind =
  /** An entry was altered, is missing or says a wrong balance. */
  | 'entry'
  /** An entry and the call that it charges do not agree. */
  | 'charge'
  | 'call'
  /** The account names another newest entry than there is. */
  | 'end'
  /** Entries of an account that is none. */
  | 'stranger'
  /** A hold of an account that is none. */
  | 'homeless'
  /** A signed checkpoint does not fit. */
  | 'checkpoint'
  | 'account-balance'
  | 'account-spent'
  | 'account-held'
  /** The hold of a call that has ended. */
  | 'hold-ended'
  | 'hour-sum'
  | 'key-total'
  | 'key-held';

export interface Finding {
  kind: FindingKind;
  /** A sentence. */
  fault: string;
  account?: string;
  key?: string;
  model?: string;
  /** Since 1970. */
  hour?: number;
  callId?: string;
}

export interface VerifyReport {
  ok: boolean;
  accounts: number;
  /** All entries, those before the checkpoints among them. */
  entries: number;
  holds: number;
  /** The other side of the books: with the balances of all accounts these add up to zero. */
  counters: { [name: string]: Money };
  /** A sentence for each thing that does not agree. */
  faults: string[];
  findings: Finding[];
  /** How much of it was read now: the rest stands before signed checkpoints. */
  read: { entries: number; calls: number };
}

/** Broken books are broken in every row after the first: nobody reads a million sentences. */
const MOST_FINDINGS = 1000;

export class Findings {
  readonly list: Finding[] = [];
  private omitted = 0;

  add(kind: FindingKind, fault: string, of: Omit<Finding, 'kind' | 'fault'> = {}): void {
    if (this.list.length < MOST_FINDINGS) this.list.push({ kind, fault, ...of });
    else this.omitted++;
  }

  get count(): number {
    return this.list.length + this.omitted;
  }

  get faults(): string[] {
    const faults = this.list.map(({ fault }) => fault);
    return this.omitted > 0 ? [...faults, `${this.omitted} more findings are not listed.`] : faults;
  }
}
