/** The only door to the database: one Store over every engine. Amounts are nano-USD; times are milliseconds since 1970. */

import type { Money } from '../canonical/money.ts';
import type { ConfigFileStore } from './config-files.ts';
import type { KeptStore } from './kept.ts';
import type { LeaseStore } from './leases.ts';
import type { Readiness } from './readiness.ts';
import type {
  AccountChange,
  AccountRow,
  Audit,
  AuditRow,
  Budget,
  CallFilter,
  CallRow,
  CodeRow,
  EntryRow,
  FirstRows,
  HoldRow,
  KeyChange,
  KeyRow,
  LedgerOutcome,
  LedgerStep,
  ModelRow,
  Page,
  PriceRow,
  ProviderRow,
  UsageSum,
} from './rows.ts';
import type { TaskStore } from './tasks.ts';
import type { RepairStore } from './verify/repair.ts';
import type { VerificationStore } from './verify/verification-store.ts';

export type {
  AccountChange,
  AccountRow,
  Audit,
  AuditRow,
  Budget,
  CallFilter,
  CallOutcome,
  CallRow,
  CodeRow,
  EntryKind,
  EntryRow,
  FallbackRow,
  FirstRows,
  HoldRow,
  KeyChange,
  KeyKind,
  KeyRow,
  LedgerOutcome,
  LedgerStep,
  ModelRow,
  Pace,
  Page,
  PriceRow,
  ProviderRow,
  TargetRow,
  UsageSum,
} from './rows.ts';

/** Whatever takes an `audit` writes it in the same transaction: there is no change without its record, and no record without its change. */
export interface Store extends ConfigFileStore, LeaseStore, VerificationStore, RepairStore {
  /** Brings the schema up to date; forward only. Throws a sentence where the database is newer than the code and does not allow its use. */
  migrate(): Promise<void>;
  /** Whether a call could be held and settled now: the schema can be used and a row be written. Never throws. */
  ready(): Promise<Readiness>;
  close(): Promise<void>;
  /** Rises whenever keys, models, prices or providers change, by whichever process. */
  generation(): Promise<number>;

  /** Applies the steps in order in one transaction, and says what became of each. A resolve of a call without a hold
   *  records and charges it all the same. With `waits` false, steps of accounts that are locked are answered with `busy`. */
  ledger(steps: readonly LedgerStep[], waits?: boolean): Promise<LedgerOutcome[]>;
  /** Batches of different accounts that the ledger takes at the same time. */
  readonly batchesAtOnce: number;
  /** The open holds, of these owners or of all. */
  holds(filter?: { owners?: readonly string[] }): Promise<HoldRow[]>;
  /** Oldest first; an entry's id is its seq. */
  entries(account: string, page: Page): Promise<EntryRow[]>;
  entryByKey(account: string, idempotencyKey: string): Promise<EntryRow | undefined>;
  /** What was entered for the call beside its charge: refunds and corrections. */
  corrections(callId: string): Promise<Money>;

  /** Returns the code; with an idempotency key that was used before, the code made then, and nothing is made or put on record. */
  createCode(code: CodeRow, audit?: Audit<CodeRow>, idempotencyKey?: string): Promise<CodeRow>;
  codes(page: Page): Promise<CodeRow[]>;

  /** Furnishes an empty database, in one transaction; `false` where there is an account already. */
  begin(first: FirstRows): Promise<boolean>;
  /** An account begins with neither balance nor holds. Throws `conflict` where its name is taken. */
  createAccount(account: AccountRow, audit?: Audit<AccountRow>): Promise<void>;
  /** By id, else by name. */
  account(idOrName: string): Promise<AccountRow | undefined>;
  accounts(page: Page): Promise<AccountRow[]>;
  updateAccount(id: string, change: AccountChange, audit?: Audit<AccountRow>): Promise<AccountRow | undefined>;
  /** Spent and held of an account in all, this UTC day and this UTC month. */
  accountSpending(id: string, now: number): Promise<Required<Budget>>;

  createKey(key: KeyRow, audit?: Audit<KeyRow>): Promise<void>;
  updateKey(id: string, change: KeyChange, audit?: Audit<KeyRow>): Promise<KeyRow | undefined>;
  /** By its hash or by the one before it. */
  keyByHash(hash: string): Promise<KeyRow | undefined>;
  keyById(id: string): Promise<KeyRow | undefined>;
  /** Its calls and what it spent stay on record. */
  removeKey(id: string, audit?: Audit<KeyRow>): Promise<boolean>;
  keys(page: Page & { account?: string }): Promise<KeyRow[]>;
  /** Spent and held of a key in all, this UTC day and this UTC month. */
  keySpending(id: string, now: number): Promise<Required<Budget>>;

  /** Throws `conflict` where the version exists and says something else. */
  savePrice(price: PriceRow): Promise<void>;
  price(id: string): Promise<PriceRow | undefined>;
  prices(page: Page & { model?: string }): Promise<PriceRow[]>;
  saveProvider(provider: ProviderRow, audit?: Audit<ProviderRow>): Promise<void>;
  /** Throws a sentence where a credential was encrypted with a key that is not known here. */
  providers(): Promise<ProviderRow[]>;
  /** Encrypts with the key in force what is not yet, or what is `plain`; resolves with how many were changed. Throws as `providers`. */
  resealProviders(which?: 'all' | 'plain'): Promise<number>;
  removeProvider(name: string, audit?: Audit<ProviderRow>): Promise<boolean>;
  saveModel(model: ModelRow, audit?: Audit<ModelRow>): Promise<void>;
  models(): Promise<ModelRow[]>;
  removeModel(name: string, audit?: Audit<ModelRow>): Promise<boolean>;

  /** For what is no change of one row: that is put on record with its change. */
  recordAudit(audit: AuditRow): Promise<void>;
  /** Newest first. */
  audits(page: Page & { subject?: string }): Promise<AuditRow[]>;

  call(id: string): Promise<CallRow | undefined>;
  /** Newest first. */
  calls(filter: CallFilter): Promise<CallRow[]>;
  /** Sums of the calls that began from `from` on and before `to`, read from sums by hour: of whole hours whose calls are kept
   *  no more only the hour is known. */
  usage(filter: { account: string; from: number; to: number; groupBy: 'day' | 'model' | 'key' }): Promise<UsageSum[]>;

  /** What is kept of conversations. */
  readonly kept: KeptStore;
  /** Work that outlives its request. */
  readonly tasks: TaskStore;

  /** Due every hour: makes room for the calls of the days to come, and drops calls that began before `keepFrom`. Their sums stay. */
  tidy(now: number, keepFrom?: number): Promise<void>;
}
