/** People who register themselves: one transaction makes person, account and starting credit. */
import type { Money } from '../canonical/money.ts';
import type { PersonRow } from './people.ts';
import type { AccountRow, AuditRow, LedgerStep } from './rows.ts';

export interface NewRegistration {
  /** The confirmed address is this token's; it is used up. */
  token: { kind: string; hash: string };
  person: PersonRow & { email: string };
  account: AccountRow;
  /** Of the mailbox, whatever spelling of the address leads there: it gets one credit ever. */
  mailbox: string;
  /** Zero: none. */
  credit: Money;
  /** What books the credit. */
  steps: readonly LedgerStep[];
  audits: readonly AuditRow[];
  /** Of a UTC day. */
  most: { people: number; credit: Money };
  at: number;
}

/** `used`: the token is not there, or has ended. `taken`: somebody has the address. `exhausted`: nothing is left of this day. */
export type RegistrationOutcome = 'registered' | 'used' | 'taken' | 'exhausted';

export interface RegistrationStore {
  /** All of it or nothing. */
  register(registration: NewRegistration): Promise<RegistrationOutcome>;
}
