/** What a batch of ledger steps has to read from the database. */
import type { LedgerStep } from '../rows.ts';

export interface BatchNeeds {
  readonly accounts: Set<string>;
  /** Keys with their accounts. */
  readonly keys: Map<string, string>;
  /** Calls whose holds end. */
  readonly calls: Set<string>;
  /** Calls whose records may be read. */
  readonly looked: Set<string>;
  /** Calls that an entry corrects. */
  readonly corrected: Set<string>;
  readonly idempotencyKeys: Set<string>;
  readonly codes: Set<string>;
  /** Whether it reads or writes more than balances of accounts and keys. */
  looksUp: boolean;
}

export function needsOf(steps: readonly LedgerStep[]): BatchNeeds {
  const needs: BatchNeeds = {
    accounts: new Set(),
    keys: new Map(),
    calls: new Set(),
    looked: new Set(),
    corrected: new Set(),
    idempotencyKeys: new Set(),
    codes: new Set(),
    looksUp: false,
  };
  for (const step of steps) addNeeds(needs, step);
  return needs;
}

function addNeeds(needs: BatchNeeds, step: LedgerStep): void {
  switch (step.type) {
    case 'hold':
      needs.accounts.add(step.hold.account);
      needs.keys.set(step.hold.key, step.hold.account);
      return;
    case 'mark':
      return;
    case 'enlarge':
      needs.accounts.add(step.account);
      needs.keys.set(step.key, step.account);
      needs.calls.add(step.callId);
      // The amount of the hold is read under the lock of its account.
      needs.looksUp = true;
      return;
    case 'resolve': {
      const { account, key } = step.hold ?? step.call;
      needs.accounts.add(account);
      needs.keys.set(key, account);
      needs.calls.add(step.callId);
      needs.looked.add(step.callId);
      needs.looksUp ||= step.hold === undefined;
      return;
    }
    case 'enter':
      needs.accounts.add(step.account);
      if (step.idempotencyKey !== undefined) needs.idempotencyKeys.add(step.idempotencyKey);
      if (step.callId !== undefined) {
        needs.looked.add(step.callId);
        needs.corrected.add(step.callId);
      }
      needs.looksUp ||= step.idempotencyKey !== undefined || step.callId !== undefined || step.audit !== undefined;
      return;
    case 'redeem':
      needs.accounts.add(step.account);
      needs.codes.add(step.hash);
      needs.looksUp = true;
      return;
    default:
      step satisfies never;
  }
}
