/** Checkpoints: how far the ledger has been verified. They are signed, so access to the database is not enough to forge them. */
import type { Money } from '../../canonical/money.ts';
import { CHAIN_START } from '../ledger/entry-hash.ts';

/** The sums over an account's entries up to one of them. */
export interface ChainState {
  seq: number;
  hash: string;
  balance: Money;
  /** The sum of charges for its calls. */
  spent: Money;
  /** The sums by counter, the other side of the entries. */
  counters: { readonly [name: string]: Money };
}

export const NO_ENTRIES: ChainState = { seq: 0, hash: CHAIN_START, balance: 0n, spent: 0n, counters: {} };

/** The sums of all accounts in one hour. Every call recorded in it increases them. */
export interface HourTotals {
  hour: number;
  calls: number;
  cost: Money;
  inputTokens: number;
  outputTokens: number;
}

export interface Checkpoints {
  accounts: ReadonlyMap<string, ChainState>;
  hours: ReadonlyMap<number, HourTotals>;
}

export const NO_CHECKPOINTS: Checkpoints = { accounts: new Map(), hours: new Map() };

/** Something that was just verified. */
export type Reached = { account: string; state: ChainState } | { hour: HourTotals };

export function isSameHour(one: HourTotals | undefined, other: HourTotals | undefined): boolean {
  if (!one || !other) return one === other;
  const isSameMoney = one.calls === other.calls && one.cost === other.cost;
  return isSameMoney && one.inputTokens === other.inputTokens && one.outputTokens === other.outputTokens;
}

/** A stored checkpoint; the signature covers `subject` and `body`. */
export interface CheckpointRow {
  /** `account ID`, `hour NUMBER`. */
  subject: string;
  body: string;
  signature: string;
}

export function writeReached(reached: Reached): Pick<CheckpointRow, 'subject' | 'body'> {
  if ('hour' in reached) {
    const { hour, cost, ...totals } = reached.hour;
    return { subject: `hour ${hour}`, body: JSON.stringify({ ...totals, cost: `${cost}` }) };
  }
  const { balance, spent, counters, ...state } = reached.state;
  const written = Object.fromEntries(Object.entries(counters).map(([name, sum]) => [name, `${sum}`]));
  const body = JSON.stringify({ ...state, balance: `${balance}`, spent: `${spent}`, counters: written });
  return { subject: `account ${reached.account}`, body };
}

interface WrittenHour {
  calls: number;
  cost: string;
  inputTokens: number;
  outputTokens: number;
}

interface WrittenState {
  seq: number;
  hash: string;
  balance: string;
  spent: string;
  counters: { [name: string]: string };
}

/** Rows must have valid signatures: only this program writes such rows. */
export function readReached(rows: readonly Pick<CheckpointRow, 'subject' | 'body'>[]): Checkpoints {
  const accounts = new Map<string, ChainState>();
  const hours = new Map<number, HourTotals>();
  for (const { subject, body } of rows) {
    if (subject.startsWith('hour ')) {
      const { cost, ...totals } = JSON.parse(body) as WrittenHour;
      const hour = Number(subject.slice('hour '.length));
      hours.set(hour, { hour, cost: BigInt(cost), ...totals });
      continue;
    }
    const { balance, spent, counters, ...state } = JSON.parse(body) as WrittenState;
    const sums = Object.fromEntries(Object.entries(counters).map(([name, sum]) => [name, BigInt(sum)]));
    const chain = { ...state, balance: BigInt(balance), spent: BigInt(spent), counters: sums };
    accounts.set(subject.slice('account '.length), chain);
  }
  return { accounts, hours };
}
