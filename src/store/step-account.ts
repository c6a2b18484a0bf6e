/** Whose books a step of the ledger is about. */
import type { LedgerStep } from './rows.ts';

/** `undefined` of a mark that does not say. */
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
