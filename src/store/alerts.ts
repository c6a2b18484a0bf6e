/** Alerts in the store: the channels they are sent to, settings of rules, what was raised, and an outbox. Times in milliseconds since 1970. */
import type { Money } from '../canonical/money.ts';
import type { Audit, Budget, Page } from './rows.ts';

export type ChannelType = 'webhook' | 'slack' | 'email';

export interface AlertChannelRow {
  id: string;
  name: string;
  type: ChannelType;
  /** What may be shown. */
  settings: ChannelSettings;
  /** What may not: stored encrypted. */
  secrets: ChannelSecrets;
  /** The rules whose alerts it gets; absent: all. */
  rules?: readonly string[];
  enabled: boolean;
  createdAt: number;
  /** Why its secrets, which are empty then, cannot be read: a sentence. */
  unreadable?: string;
}

export interface ChannelSettings {
  from?: string;
  to?: readonly string[];
}

export interface ChannelSecrets {
  /** Of a webhook, Slack, or an SMTP server: it may contain a token or a password. */
  url: string;
  /** The key of the signatures of a webhook: `whsec_…`. */
  secret?: string;
}

/** What an operator has set for a rule; absent members have their defaults. */
export interface AlertRuleRow {
  rule: string;
  enabled?: boolean;
  thresholds?: readonly number[];
  /** A balance in nano-USD, as decimal text. */
  below?: string;
}

export interface AlertRow {
  id: string;
  at: number;
  rule: string;
  severity: 'info' | 'warning' | 'error';
  /** What it is about: an account, a target, a provider. */
  subject: string;
  title: string;
  text: string;
  /** More about it, by name. */
  data: { readonly [name: string]: string | number };
}

export interface RaisedAlert extends AlertRow {
  /** There is at most one alert with this key, until `rearm` frees it. */
  key: string;
  /** Not raised if the same rule had an alert for the same subject since this time. */
  unlessSince?: number;
  /** An alert that was raised before has the key no more. */
  freeBefore?: number;
}

export type DeliveryState = 'pending' | 'sent' | 'dead';

export interface DeliveryRow {
  alert: string;
  channel: string;
  state: DeliveryState;
  tries: number;
  /** Of the last try that failed. */
  error?: string;
  /** When it was sent or given up, or is tried next. */
  at: number;
}

/** One delivery that this process has to make. */
export interface ClaimedDelivery {
  id: string;
  tries: number;
  alert: AlertRow;
  /** Absent: it was removed. */
  channel: AlertChannelRow | undefined;
}

/** What became of a delivery. With `dueAt` it is tried again. */
export interface DeliveryEnd {
  state: DeliveryState;
  tries: number;
  at: number;
  error?: string;
}

/** An account or key that has used much of a budget. */
export interface BudgetUse {
  kind: 'account' | 'key';
  id: string;
  name: string;
  account: string;
  budget: Budget;
  /** Spent plus held. */
  used: Required<Budget>;
}

export interface LowBalance {
  id: string;
  name: string;
  balance: Money;
}

export interface ChangedPrice {
  id: string;
  model: string;
  createdAt: number;
  /** From when it applies; absent: since it was saved. */
  effectiveAt?: number;
}

/** What was found in one part of a table. */
export interface Searched<Row> {
  rows: Row[];
  /** Where the next part begins; absent: this was the last. */
  next?: string;
}

export interface AlertStore {
  channels(): Promise<AlertChannelRow[]>;
  /** Inserts the channel, or replaces the one with this id. Throws `conflict` if its name is taken. */
  saveChannel(channel: AlertChannelRow, audit?: Audit<AlertChannelRow>): Promise<void>;
  /** What was not sent yet is dropped. */
  removeChannel(id: string, audit?: Audit<AlertChannelRow>): Promise<boolean>;
  /** Encrypts secrets of channels with the current key. Resolves with the number changed. */
  reencrypt(): Promise<number>;
  rules(): Promise<AlertRuleRow[]>;
  saveRule(rule: AlertRuleRow, audit?: Audit<AlertRuleRow>): Promise<void>;

  /** Records the alert and a delivery to each channel that wants it, in one transaction. `false`: there is one with this key. */
  raise(alert: RaisedAlert): Promise<boolean>;
  /** Which of these keys have an alert. */
  raised(keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** Frees the key. If an alert had it, `next` of its id is raised in the same transaction. */
  rearm(key: string, next: (freed: string) => RaisedAlert | undefined): Promise<void>;
  /** Latest first. */
  alerts(filter: Page & { rule?: string; state?: DeliveryState }): Promise<AlertRow[]>;
  deliveriesOf(alerts: readonly string[]): Promise<DeliveryRow[]>;
  /** Channels that have a delivery that is due. */
  dueChannels(now: number): Promise<string[]>;
  /** Takes deliveries to this channel that are due. */
  claim(
    channel: string,
    worker: string,
    lease: { now: number; until: number },
    limit: number,
  ): Promise<ClaimedDelivery[]>;
  delivered(id: string, worker: string, end: DeliveryEnd): Promise<void>;
  /** Processes that have taken deliveries. */
  workers(): Promise<string[]>;
  releaseOf(workers: readonly string[]): Promise<void>;
  /** What is put off or taken until later than `before` is due now. */
  pullIn(now: number, before: number): Promise<void>;
  /** Removes alerts that were raised before. */
  forget(before: number): Promise<void>;

  /** Among so many accounts or keys with budgets, by id: those beyond so many percent of one, or nearly so. */
  budgetUses(kind: BudgetUse['kind'], percent: number, now: number, page: Page): Promise<Searched<BudgetUse>>;
  /** `undefined`: it does not exist, or has spent and held nothing yet. */
  budgetUse(kind: BudgetUse['kind'], id: string, now: number): Promise<BudgetUse | undefined>;
  /** Among so many accounts, by id: those with less, that have spent something. */
  lowBalances(below: Money, page: Page): Promise<Searched<LowBalance>>;
  /** Frees the alerts of a low balance of accounts that have so much again. */
  rearmBalances(rule: string, below: Money): Promise<void>;
  /** Prices of models that had another before. */
  changedPrices(since: number): Promise<ChangedPrice[]>;
}
