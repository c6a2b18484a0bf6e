/** The findings of a verification. */
import type { Money } from '../../canonical/money.ts';

/** `entry`, `charge`, `call`, `end`, `stranger`, `homeless` and `checkpoint` need a person; the others can be computed from the rows. */
export type FindingKind =
  /** An entry was altered, is missing, or has a wrong balance. */
  | 'entry'
  /** An entry and the call that it charges do not match. */
  | 'charge'
  | 'call'
  /** The account names another newest entry than there is. */
  | 'end'
  /** Entries of an account that does not exist. */
  | 'stranger'
  /** A hold of an account that does not exist. */
  | 'homeless'
  /** A signed checkpoint does not match. */
  | 'checkpoint'
  | 'account-balance'
  | 'account-spent'
  | 'account-held'
  /** An open hold of a call that has ended. */
  | 'hold-ended'
  | 'hour-sum'
  /** A sum by provider or tag, and a sum of a day. */
  | 'usage-sum'
  | 'usage-day'
  | 'key-total'
  | 'key-held';

export interface Finding {
  kind: FindingKind;
  /** A sentence. */
  fault: string;
  account?: string;
  key?: string;
  model?: string;
  /** Hours since 1970. */
  hour?: number;
  /** Days since 1970. */
  day?: number;
  callId?: string;
}

export interface VerifyReport {
  ok: boolean;
  accounts: number;
  /** All entries, including those covered by checkpoints. */
  entries: number;
  holds: number;
  /** The sums by counter; together with the balances of all accounts they add up to zero. */
  counters: { [name: string]: Money };
  /** One sentence for each difference. */
  faults: string[];
  findings: Finding[];
  /** What is worth knowing and is not a fault. */
  notes: string[];
  /** How much was read now. The rest is covered by signed checkpoints. */
  read: { entries: number; calls: number };
}

/** In a damaged ledger every row after the damage may be wrong; a million sentences would not be read. */
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
