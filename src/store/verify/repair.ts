/** Repairs: corrects sums that a verification found wrong from the rows that they are computed from. */
import type { Audit } from '../rows.ts';
import type { Finding, FindingKind } from './report.ts';

/** Findings about sums of rows, which can be computed again. Everything else needs a person. */
export const REPAIRABLE: ReadonlySet<FindingKind> = new Set<FindingKind>([
  'hold-ended',
  'hour-sum',
  'usage-sum',
  'usage-day',
  'key-total',
  'key-held',
  'account-held',
  'account-balance',
  'account-spent',
]);

/** A value that was found wrong, and the correct value. */
export interface Correction {
  account: string;
  /** What is corrected, in words: `balance of account acct_1`. */
  what: string;
  before: { readonly [figure: string]: bigint };
  after: { readonly [figure: string]: bigint };
}

export interface RepairStore {
  /**
   * Corrects the values of one account that the findings name, under its lock and in one transaction; each is computed again there. Without
   * `enter` everything is rolled back, and the result is what would have been done. `audit` writes an audit row for each correction.
   */
  repair(
    account: string,
    findings: readonly Finding[],
    enter: boolean,
    audit: (of: Correction) => Audit<object>,
  ): Promise<Correction[]>;
}
