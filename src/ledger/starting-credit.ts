/** Starting credit: of the account that the bootstrap creates, and of people who register themselves. */
import type { Money } from '../canonical/money.ts';
import type { LedgerStep } from '../store/rows.ts';
import { COUNTERS } from './counters.ts';

/** Money given away has a counter of its own: it is no income. */
const GIVEN = 'starting-credit';

/** The ledger step. `amount` in nano-USD, `at` in milliseconds since 1970. */
export function startingCredit(account: string, amount: Money, at: number): LedgerStep {
  const note = 'starting credit';
  return { type: 'enter', account, kind: 'top-up', amount, counter: COUNTERS['top-up'], note, at };
}

/** The ledger step of a person who has registered: `idempotencyKey` books it once, `audit` writes it to the audit log. */
export function registrationCredit(
  account: string,
  amount: Money,
  at: number,
  more: Pick<Extract<LedgerStep, { type: 'enter' }>, 'idempotencyKey' | 'audit'>,
): LedgerStep {
  return {
    ...{ type: 'enter', account, kind: 'top-up', amount, counter: GIVEN },
    note: 'starting credit of a registration',
    at,
    ...more,
  };
}
