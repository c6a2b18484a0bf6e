/** What a verification has found and what follows from what is right beside it. */
import type { Audit } from '../rows.ts';
import type { Finding, FindingKind } from './report.ts';

/** Figures that are sums of rows: the rows say what they must be. Everything else needs a person. */
export const REPAIRABLE: ReadonlySet<FindingKind> = new Set<FindingKind>([
  'hold-ended',
  'hour-sum',
  'key-total',
  'key-held',
  'account-held',
  'account-balance',
  'account-spent',
]);

/** A figure as it was found and as it must be. */
export interface Correction {
  account: string;
  /** The account, key, call or sum that is corrected, in words: `balance of account acct_1`. */
  what: string;
  before: { readonly [figure: string]: bigint };
  after: { readonly [figure: string]: bigint };
}

export interface RepairStore {
  /**
   * Corrects the figures of one account that these findings name, under its lock and in one transaction: each is computed anew there. Without
   * `enter` all of it is taken back: what is returned is what would have been done. `audit` keeps each correction on record.
   */
  repair(
    account: string,
    findings: readonly Finding[],
    enter: boolean,
    audit: (of: Correction) => Audit<object>,
  ): Promise<Correction[]>;
}
