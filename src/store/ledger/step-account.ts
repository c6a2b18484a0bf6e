/** The account of a ledger step. */
import type { LedgerStep } from '../rows.ts';

/** `undefined` for a mark that does not name it. */
export function accountOfStep(step: LedgerStep): string | undefined {
  switch (step.type) {
    case 'hold':
      return step.hold.account;
    case 'resolve':
      return (step.hold ?? step.call).account;
    default:
      return step.account;
  }
}
