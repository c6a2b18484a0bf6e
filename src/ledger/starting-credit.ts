/** The initial balance of the account that the bootstrap creates. */
import type { Money } from '../canonical/money.ts';
import type { LedgerStep } from '../store/store.ts';
import { COUNTERS } from './counters.ts';

/** The ledger step. `amount` in nano-USD, `at` in milliseconds since 1970. */
export function startingCredit(account: string, amount: Money, at: number): LedgerStep {
  const note = 'starting credit';
  return { type: 'enter', account, kind: 'top-up', amount, counter: COUNTERS['top-up'], note, at };
}
