/** What the account of a first start begins with. */
import type { Money } from '../canonical/money.ts';
import type { LedgerStep } from '../store/store.ts';
import { COUNTERS } from './counters.ts';

export function startingCredit(account: string, amount: Money, at: number): LedgerStep {
  const note = 'starting credit';
  return { type: 'enter', account, kind: 'top-up', amount, counter: COUNTERS['top-up'], note, at };
}
