/** The interface to the database, the same for both engines. Amounts are in nano-USD, times in milliseconds since 1970. */

import type { Money } from '../canonical/money.ts';
import type { AlertStore } from './alerts.ts';
import type { BackupStore } from './backup/backup-store.ts';
import type { BilledStore } from './billed-calls.ts';
import type { ModelChange, ModelRow, PriceGroupRow, PriceRow, ProviderRow } from './catalog-rows.ts';
import type { ConfigFileStore } from './config-files.ts';
import type { HourlyFileStore } from './hourly-files.ts';
import type { KeptStore } from './kept.ts';
import type { LeaseStore } from './leases.ts';
import type { SchemaState } from './migration-plan.ts';
import type { OverviewStore } from './overview.ts';
import type { PeopleStore } from './people.ts';
import type { Readiness } from './readiness.ts';
import type { RefusedCallRow } from './refused-call-row.ts';
import type { RegistrationStore } from './registrations.ts';
import type {
  AccountChange,
  AccountRow,
  Audit,
  AuditRow,
  Budget,
  CallFilter,
  CallPlace,
  CallRow,
  CodeRow,
  EntryRow,
  FirstRows,
  HoldRow,
  KeyChange,
  KeyRow,
  LedgerOutcome,
  LedgerStep,
  Page,
  UsageGroup,
  UsageSum,
} from './rows.ts';
import type { TaskStore } from './tasks.ts';
import type { RepairStore } from './verify/repair.ts';
import type { VerificationStore } from './verify/verification-store.ts';

/**
 * Methods with an `audit` parameter write the audit row in the same transaction: there is no change without it, and no audit row without a
 * change.
 */
export interface Store
  extends ConfigFileStore,
    LeaseStore,
    VerificationStore,
    RepairStore,
    BackupStore,
    BilledStore,
    OverviewStore,
    RegistrationStore {
  /** Brings the schema up to date, forward only. Throws an Error if the database is newer than the code and not compatible. */
  migrate(): Promise<void>;
  /** Whether the database has the schema of this code, and what is missing. Throws if it does not answer. */
  schema(): Promise<SchemaState>;
  /** Whether calls can be held and settled now: the schema is usable and a row can be written. Never throws. */
  ready(): Promise<Readiness>;
  close(): Promise<void>;
  /** Increases whenever any process changes keys, models, prices or providers. */
  generation(): Promise<number>;

  /**
   * Applies the steps in order in one transaction and returns the outcome of each. A resolve without a hold is recorded and charged too.
   * With `waits` false, steps of locked accounts return `busy`.
   */
  ledger(steps: readonly LedgerStep[], waits?: boolean): Promise<LedgerOutcome[]>;
  /** How many batches of different accounts can run at the same time. */
  readonly batchesAtOnce: number;
  /** The open holds of these owners, or of all. */
  holds(filter?: { owners?: readonly string[] }): Promise<HoldRow[]>;
  /** Oldest first unless `newestFirst`; the id of an entry is its seq. */
  entries(account: string, page: Page & { newestFirst?: boolean }): Promise<EntryRow[]>;
  entryByKey(account: string, idempotencyKey: string): Promise<EntryRow | undefined>;
  /** The sum of refunds and corrections of the call. */
  corrections(callId: string): Promise<Money>;

  /** Returns the code. If the idempotency key was used before, returns the earlier code and changes nothing. */
  createCode(code: CodeRow, audit?: Audit<CodeRow>, idempotencyKey?: string): Promise<CodeRow>;
  codes(page: Page): Promise<CodeRow[]>;

  /** Bootstraps an empty database in one transaction. `false` if there is an account already. */
  begin(first: FirstRows): Promise<boolean>;
  /** A new account has neither balance nor holds. Throws `conflict` if its name is taken. */
  createAccount(account: AccountRow, audit?: Audit<AccountRow>): Promise<void>;
  /** Looks up by id, then by name. */
  account(idOrName: string): Promise<AccountRow | undefined>;
  accounts(page: Page): Promise<AccountRow[]>;
  updateAccount(id: string, change: AccountChange, audit?: Audit<AccountRow>): Promise<AccountRow | undefined>;
  /** Spent plus held of an account: in total, this UTC day, and this UTC month. */
  accountSpending(id: string, now: number): Promise<Required<Budget>>;

  createKey(key: KeyRow, audit?: Audit<KeyRow>): Promise<void>;
  updateKey(id: string, change: KeyChange, audit?: Audit<KeyRow>): Promise<KeyRow | undefined>;
  /** By its current or previous hash. */
  keyByHash(hash: string): Promise<KeyRow | undefined>;
  keyById(id: string): Promise<KeyRow | undefined>;
  /** Its calls and its spending are kept. */
  removeKey(id: string, audit?: Audit<KeyRow>): Promise<boolean>;
  keys(page: Page & { account?: string }): Promise<KeyRow[]>;
  /** Spent plus held of a key: in total, this UTC day, and this UTC month. */
  keySpending(id: string, now: number): Promise<Required<Budget>>;

  /** Throws `conflict` if the version exists with other content. */
  savePrice(price: PriceRow): Promise<void>;
  price(id: string): Promise<PriceRow | undefined>;
  prices(page: Page & { model?: string }): Promise<PriceRow[]>;
  savePriceGroup(group: PriceGroupRow, audit?: Audit<PriceGroupRow>): Promise<void>;
  priceGroups(): Promise<PriceGroupRow[]>;
  /** Throws `conflict` while accounts are in the group. */
  removePriceGroup(name: string, audit?: Audit<PriceGroupRow>): Promise<boolean>;
  saveProvider(provider: ProviderRow, audit?: Audit<ProviderRow>): Promise<void>;
  /** Throws an Error if a credential was encrypted with an unknown key. */
  providers(): Promise<ProviderRow[]>;
  /**
   * Encrypts credentials with the current key: those of other keys too, or only the unencrypted ones (`plain`). Resolves with the number
   * changed. Throws as `providers`.
   */
  reencryptProviders(which?: 'all' | 'plain'): Promise<number>;
  removeProvider(name: string, audit?: Audit<ProviderRow>): Promise<boolean>;
  saveModel(model: ModelRow, audit?: Audit<ModelRow>): Promise<void>;
  /** Changes rows as they are, in one transaction, so that nothing of what others save at the same time is lost. */
  changeModels(changes: readonly ModelChange[]): Promise<void>;
  models(): Promise<ModelRow[]>;
  removeModel(name: string, audit?: Audit<ModelRow>): Promise<boolean>;

  /** For actions that are not a change of one row; those have their own audit rows. */
  recordAudit(audit: AuditRow): Promise<void>;
  /** Newest first. `actorName`: of a key or a person that exists. */
  audits(
    page: Page & { subject?: string | undefined; actor?: string | undefined; action?: string | undefined },
  ): Promise<(AuditRow & { actorName?: string })[]>;

  /** With its receipt. Calls that were refused before they were admitted are found too, for a day. */
  call(id: string): Promise<CallRow | undefined>;
  /** The charge of the call, with what was corrected since. Oldest first. */
  entriesOfCall(id: string): Promise<EntryRow[]>;
  /** Records calls that were not admitted. */
  refused(calls: readonly RefusedCallRow[]): Promise<void>;
  /** Newest first. With a `status`, `error` or `outcome` also those that were not admitted. */
  calls(filter: CallFilter): Promise<CallRow[]>;
  /**
   * The same for one request: at most `examined` calls are read, so a page may be short, or empty, and have a `next`, for `after` of the
   * following page. Without `next` it is the last.
   */
  callPage(filter: CallFilter, examined: number): Promise<{ calls: CallRow[]; next?: CallPlace }>;
  /**
   * Sums of calls that began in [`from`, `to`), read from hourly sums, by time and then by name. `periods` also groups by the time from each
   * of these to the next (the beginnings of days), unless hours are a group. If the calls of an hour have been removed, a part of that hour
   * counts as the whole hour. Grouped by tag, calls without a tag are left out, and a call with several is in the sum of each.
   */
  usage(filter: {
    account?: string | undefined;
    key?: string | undefined;
    model?: string | undefined;
    provider?: string | undefined;
    tag?: string | undefined;
    from: number;
    to: number;
    groupBy: readonly UsageGroup[];
    periods?: readonly number[] | undefined;
    /** The maximum of lines. */
    limit?: number;
  }): Promise<UsageSum[]>;

  /** People who sign in to the console. */
  readonly people: PeopleStore;
  /** Stored conversations. */
  readonly kept: KeptStore;
  /** Alerts, and where they are sent. */
  readonly alerts: AlertStore;
  /** Which hours have their file of calls. */
  readonly hourlyFiles: HourlyFileStore;
  /** Tasks that outlive their request. */
  readonly tasks: TaskStore;

  /** Call every hour: prepares storage for the next days and removes calls that began before `keepFrom`. Their sums are kept. */
  tidy(now: number, keepFrom?: number): Promise<void>;
}
