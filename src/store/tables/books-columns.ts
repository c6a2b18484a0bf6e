/** The balances of an account as both engines return them: integers are bigint. */
import type { AccountBooks } from '../ledger/ledger-rules.ts';

export interface BooksColumns
  extends Omit<AccountBooks, 'day' | 'month' | 'priorDay' | 'priorMonth' | 'lateSince' | 'lastSeq'> {
  day: bigint;
  month: bigint;
  priorDay: bigint;
  priorMonth: bigint;
  lateSince: bigint;
  lastSeq: bigint;
}
