/** The types of verification: what it reads, and what its parts share. */
import type { Money } from '../../canonical/money.ts';
import type { EntryRow } from '../rows.ts';
import type { Checkpoints, HourTotals, Reached } from './checkpoint.ts';
import type { Findings } from './report.ts';
import type { SumsReader } from './sums-reader.ts';

export interface AccountLine {
  id: string;
  balance: Money;
  held: Money;
  spent: Money;
  lastSeq: number;
  lastHash: string;
  /** The sum of its open holds. */
  holds: Money;
  /** The largest seq of its entries; 0 if there are none. */
  newestSeq: number;
  /** Of the entry that the account's row names as its newest. Absent if that entry does not exist. */
  newest: { hash: string; balanceAfter: Money } | undefined;
}

/** Entries of one account with the same kind and counter. */
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
  /** The sum of the charge and the completion that it names. */
  charged: Money;
}

export interface HoldLine {
  callId: string;
  account: string;
}

export interface SpendingLine {
  key: string;
  /** The account of the entry or call. */
  account: string | null;
  held: Money;
  total: Money;
  /** The sum of the key's open holds, and of its hourly sums. */
  holds: Money;
  summed: Money;
}

/** The entries of an account after the first seq, up to and including the second. */
export interface EntryRange {
  account: string;
  after: number;
  to: number;
}

export interface BooksReader extends SumsReader {
  /** Calls before this time may have been removed. */
  keptFrom(): Promise<number>;
  accounts(after: string | undefined, limit: number): Promise<AccountLine[]>;
  entries(account: string, afterSeq: number, limit: number): Promise<EntryRow[]>;
  /** Whether an entry is missing, altered, or does not follow the previous hash and balance. May return true for correct entries. */
  isDoubtful(range: EntryRange, before: { hash: string; balance: Money }): Promise<boolean>;
  sums(range: EntryRange): Promise<EntrySum[]>;
  /** Charges that may not match their call, for calls that ended since that time. */
  doubtfulCharges(range: EntryRange, since: number): Promise<EntryRow[]>;
  /** The calls with these ids that ended in this time. */
  callsOf(ids: readonly string[], from: number, to: number): Promise<CallLine[]>;
  hourTotals(): Promise<HourTotals[]>;
  /** Calls that began in these hours and whose entries do not add up to their cost. */
  wrongCalls(fromHour: number, toHour: number): Promise<CallLine[]>;
  holds(): Promise<number>;
  /** Account ids in entries for which there is no account. */
  strangers(): Promise<string[]>;
  /** Holds of recorded calls, and holds of accounts that do not exist. */
  wrongHolds(): Promise<{ ended: HoldLine[]; homeless: HoldLine[] }>;
  /** Key spendings that are wrong. */
  wrongSpendings(): Promise<SpendingLine[]>;
}

export interface VerifyProgress {
  /** Entries and calls read so far, and the total. */
  done: number;
  total: number;
}

export interface VerifyOptions {
  /** What was verified before and need not be read again. */
  known?: Checkpoints;
  /** Reads everything. The known checkpoints must match too. */
  full?: boolean;
  progress?: (progress: VerifyProgress) => void;
  /** Called with what has been verified. */
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
  /** Calls of an older release that reports have without their provider, or not at all. */
  older: { withoutProvider: number; notInDay: number };
  /** Reports that more entries or calls have been read. */
  advance(count: number): void;
  reached(reached: readonly Reached[]): void;
}
