/** What a verification reads of the books, and what its parts share. */
import type { Money } from '../../canonical/money.ts';
import type { EntryRow } from '../rows.ts';
import type { Checkpoints, HourTotals, Reached } from './checkpoint.ts';
import type { Findings } from './report.ts';

export interface AccountLine {
  id: string;
  balance: Money;
  held: Money;
  spent: Money;
  lastSeq: number;
  lastHash: string;
  /** Sum of its open holds. */
  holds: Money;
  /** The greatest seq of its entries; 0 where it has none. */
  newestSeq: number;
  /** Of the entry that it says is its newest; absent where that is not there. */
  newest: { hash: string; balanceAfter: Money } | undefined;
}

/** Entries of one account, one kind and one other side. */
export interface EntrySum {
  kind: EntryRow['kind'];
  counter: string;
  entries: number;
  amount: Money;
}

export interface CallLine {
  id: string;
  account: string;
  cost: Money;
  entrySeq: number | undefined;
  completionSeq: number | undefined;
  /** What the charge and the completion that it names add up to. */
  charged: Money;
}

export interface HoldLine {
  callId: string;
  account: string;
}

export interface SpendingLine {
  key: string;
  /** Whose it is, or was. */
  account: string | null;
  held: Money;
  total: Money;
  /** Sum of the key's open holds, and of its calls by hour. */
  holds: Money;
  summed: Money;
}

/** What the calls of an hour come to and what is kept as their sum, where the two differ or a call may lack its charge. */
export interface HourLine {
  account: string;
  key: string;
  model: string;
  /** Since 1970. */
  hour: number;
  calls: number;
  cost: Money;
  keptCalls: number;
  keptCost: Money;
  isSame: boolean;
}

/** The part of an account's entries after the first seq, up to and with the second. */
export interface Range {
  account: string;
  after: number;
  to: number;
}

export interface BooksReader {
  /** Calls before this moment may have been dropped. */
  keptFrom(): Promise<number>;
  accounts(after: string | undefined, limit: number): Promise<AccountLine[]>;
  entries(account: string, afterSeq: number, limit: number): Promise<EntryRow[]>;
  /** Whether an entry is missing, altered, or does not follow the hash and balance before it: at worst a false alarm. */
  isDoubtful(range: Range, before: { hash: string; balance: Money }): Promise<boolean>;
  sums(range: Range): Promise<EntrySum[]>;
  /** The entries that charge a call and may not agree with it, of calls that ended since. */
  doubtfulCharges(range: Range, since: number): Promise<EntryRow[]>;
  /** The calls with these ids, which ended in this time. */
  callsOf(ids: readonly string[], from: number, to: number): Promise<CallLine[]>;
  hourTotals(): Promise<HourTotals[]>;
  /** What does not agree in these hours; the last is not among them. */
  hours(fromHour: number, toHour: number): Promise<HourLine[]>;
  /** The calls that began in these hours whose entries do not add up to their cost. */
  wrongCalls(fromHour: number, toHour: number): Promise<CallLine[]>;
  holds(): Promise<number>;
  /** Accounts that entries name and that are not there. */
  strangers(): Promise<string[]>;
  /** Holds of recorded calls, and of accounts that are not there. */
  wrongHolds(): Promise<{ ended: HoldLine[]; homeless: HoldLine[] }>;
  /** Those that are wrong. */
  wrongSpendings(): Promise<SpendingLine[]>;
}

export interface Progress {
  /** Entries and calls that have been read now, of those that there are to read. */
  done: number;
  total: number;
}

export interface VerifyOptions {
  /** What need not be read again. */
  known?: Checkpoints;
  /** Reads everything; what is known must fit it all the same. */
  full?: boolean;
  progress?: (progress: Progress) => void;
  /** Takes what has been verified. */
  reached?: (reached: readonly Reached[]) => void;
}

/** What the parts of one verification share. */
export interface Verification {
  books: BooksReader;
  known: Checkpoints;
  full: boolean;
  findings: Findings;
  keptFrom: number;
  counters: { [name: string]: Money };
  read: { entries: number; calls: number };
  /** So many entries or calls more have been read. */
  advance(count: number): void;
  reached(reached: readonly Reached[]): void;
}
