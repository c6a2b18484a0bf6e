/** Proves that the books agree: entries, balances, holds, calls, their sums, key spendings, and that no entry was altered. */
import type { Money } from '../canonical/money.ts';
import { HOUR_MS } from './call-sums.ts';
import { CHAIN_START, entryHash } from './entry-hash.ts';
import { isOfBill } from './ledger-rules.ts';
import type { EntryRow, VerifyReport } from './store.ts';

/** Rows read at once: the process has calls to serve meanwhile. */
const CHUNK = 500;
const DAY_MS = 86_400_000;
/** Sums compared at once: those of a year would not fit into the memory of a process that has calls to serve. */
const MOST_SUMS = 20_000;

export interface AccountLine {
  id: string;
  balance: Money;
  held: Money;
  spent: Money;
  lastSeq: number;
  lastHash: string;
  /** Sum of its open holds. */
  holds: Money;
}

export interface CallLine {
  id: string;
  account: string;
  key: string;
  at: number;
  cost: Money;
  entrySeq: number | undefined;
  completionSeq: number | undefined;
  /** What the charge and the completion that it names add up to. */
  charged: Money;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

export interface SpendingLine {
  key: string;
  held: Money;
  total: Money;
  /** Sum of the key's open holds, and of its calls by hour. */
  holds: Money;
  summed: Money;
}

export interface HourLine {
  account: string;
  key: string;
  model: string;
  /** Since 1970. */
  hour: number;
  calls: number;
  cost: Money;
  inputTokens: number;
  outputTokens: number;
}

/** One moment of the books, however long the reading takes. */
export interface BooksReader {
  /** Calls before this moment may have been dropped. */
  keptFrom(): Promise<number>;
  accounts(): Promise<AccountLine[]>;
  entries(account: string, afterSeq: number, limit: number): Promise<EntryRow[]>;
  /** The calls with these ids, which ended in this time. */
  callsOf(ids: readonly string[], from: number, to: number): Promise<CallLine[]>;
  /** Oldest first. */
  calls(after: CallLine | undefined, limit: number): Promise<CallLine[]>;
  holds(): Promise<number>;
  /** Accounts that entries name and that are not there. */
  strangers(): Promise<string[]>;
  /** Holds of recorded calls, and of accounts that are not there. */
  wrongHolds(): Promise<{ ended: string[]; homeless: string[] }>;
  spendings(): Promise<SpendingLine[]>;
  /** The sums of these hours; the last is not among them. */
  sums(fromHour: number, toHour: number): Promise<HourLine[]>;
}

interface Findings {
  faults: string[];
  counters: { [name: string]: Money };
}

export async function verifyBooks(books: BooksReader): Promise<VerifyReport> {
  const findings: Findings = { faults: [], counters: {} };
  const { faults, counters } = findings;
  const keptFrom = await books.keptFrom();
  const accounts = await books.accounts();
  let entries = 0;
  for (const account of accounts) entries += await verifyAccount(books, account, keptFrom, findings);
  for (const id of await books.strangers()) faults.push(`There are entries of account ${id}, which is none.`);
  const { ended, homeless } = await books.wrongHolds();
  for (const id of ended) faults.push(`Call ${id} is recorded, but its hold is still open.`);
  for (const id of homeless) faults.push(`The hold of call ${id} belongs to no account.`);
  await verifyCalls(books, keptFrom, faults);
  for (const spending of await books.spendings()) verifySpending(spending, faults);
  const holds = await books.holds();
  return { ok: faults.length === 0, accounts: accounts.length, entries, holds, counters, faults };
}

interface Last {
  seq: number;
  balance: Money;
  hash: string;
}

/** Returns how many entries the account has. */
async function verifyAccount(
  books: BooksReader,
  account: AccountLine,
  keptFrom: number,
  { faults, counters }: Findings,
): Promise<number> {
  let count = 0;
  let charged = 0n;
  let last: Last = { seq: 0, balance: 0n, hash: CHAIN_START };
  for (let more = true; more; ) {
    const entries = await books.entries(account.id, last.seq, CHUNK);
    await verifyCharges(books, entries, keptFrom, faults);
    for (const entry of entries) {
      verifyEntry(entry, last, faults);
      counters[entry.counter] = (counters[entry.counter] ?? 0n) - entry.amount;
      if (isOfBill(entry.kind)) charged -= entry.amount;
      last = { seq: entry.seq, balance: last.balance + entry.amount, hash: entry.hash };
    }
    count += entries.length;
    more = entries.length === CHUNK;
  }
  const name = `Account ${account.id}`;
  if (account.holds !== account.held) {
    faults.push(`${name} has ${account.held} on hold, but its open holds add up to ${account.holds}.`);
  }
  if (last.balance !== account.balance) {
    faults.push(`${name} has the balance ${account.balance}, but its entries add up to ${last.balance}.`);
  }
  if (charged !== account.spent) {
    faults.push(`${name} has spent ${account.spent}, but its charges add up to ${charged}.`);
  }
  if (last.seq !== account.lastSeq || last.hash !== account.lastHash) {
    faults.push(`${name} ends at entry ${account.lastSeq}, but its newest entry is another: ${last.seq}.`);
  }
  return count;
}

function verifyEntry(entry: EntryRow, last: Last, faults: string[]): void {
  const name = nameOf(entry);
  if (entry.seq !== last.seq + 1) faults.push(`${name} follows entry ${last.seq}: those between are missing.`);
  if (entry.balanceAfter !== last.balance + entry.amount) {
    faults.push(`${name} says the balance after it is ${entry.balanceAfter}, it is ${last.balance + entry.amount}.`);
  }
  if (entry.hash !== entryHash(last.hash, entry)) faults.push(`${name} was altered: its hash does not fit it.`);
}

async function verifyCharges(
  books: BooksReader,
  entries: readonly EntryRow[],
  keptFrom: number,
  faults: string[],
): Promise<void> {
  const charges = entries.filter(({ kind }) => isOfBill(kind));
  if (charges.length === 0) return;
  const times = charges.map(({ at }) => at);
  const ids = charges.map(({ callId = '' }) => callId);
  const found = await books.callsOf(ids, Math.min(...times), Math.max(...times));
  const calls = new Map(found.map((call) => [call.id, call]));
  for (const entry of charges) {
    const call = calls.get(entry.callId ?? '');
    if (!call) {
      // It may have begun a day earlier, and calls are dropped by their beginning.
      if (entry.at >= keptFrom + DAY_MS)
        faults.push(`${nameOf(entry)} charges call ${entry.callId}, which is not recorded.`);
    } else {
      const named = entry.kind === 'charge' ? call.entrySeq : call.completionSeq;
      if (named === entry.seq && call.account === entry.account && call.cost === call.charged) continue;
      faults.push(
        `${nameOf(entry)} charges ${-entry.amount} for call ${call.id}, whose record says ${call.cost} by entry ${named}.`,
      );
    }
  }
}

const nameOf = ({ seq, account }: EntryRow) => `Entry ${seq} of account ${account}`;

/** Every call that cost something is charged, and the sums of whole hours are those of their calls. */
async function verifyCalls(books: BooksReader, keptFrom: number, faults: string[]): Promise<void> {
  let fromHour = Math.ceil(keptFrom / HOUR_MS);
  let hour = fromHour;
  let sums = new Map<string, HourLine>();
  let last: CallLine | undefined;
  for (let more = true; more; ) {
    const calls = await books.calls(last, CHUNK);
    for (const call of calls) {
      if (call.cost !== call.charged) {
        const charged = call.charged === 0n ? 'no entry charges it' : `its entries charge ${call.charged}`;
        faults.push(`Call ${call.id} cost ${call.cost} but ${charged}.`);
      }
      const callHour = Math.floor(call.at / HOUR_MS);
      if (callHour < fromHour) continue;
      // The hours before are complete.
      if (callHour > hour && sums.size >= MOST_SUMS) {
        compareSums(sums, await books.sums(fromHour, callHour), faults);
        sums = new Map();
        fromHour = callHour;
      }
      hour = callHour;
      addCall(sums, call);
    }
    last = calls.at(-1);
    more = calls.length === CHUNK;
  }
  compareSums(sums, await books.sums(fromHour, Number.MAX_SAFE_INTEGER), faults);
}

/** What the calls add up to, and what is kept as their sums. */
function compareSums(sums: Map<string, HourLine>, kept: readonly HourLine[], faults: string[]): void {
  for (const line of kept) {
    const sum = sums.get(placeOf(line));
    sums.delete(placeOf(line));
    if (sum && isSame(sum, line)) continue;
    const said = `${line.calls} calls for ${line.cost}`;
    faults.push(`${nameOfHour(line)} has ${said} in its sum, its calls say ${sum?.calls ?? 0} for ${sum?.cost ?? 0n}.`);
  }
  for (const sum of sums.values()) faults.push(`${nameOfHour(sum)} has calls that are in no sum.`);
}

const placeOf = ({ account, key, model, hour }: HourLine) => JSON.stringify([account, key, model, hour]);
const nameOfHour = ({ key, model, hour }: HourLine) =>
  `Key ${key} on ${model} in the hour of ${new Date(hour * HOUR_MS).toISOString()}`;

function addCall(sums: Map<string, HourLine>, call: CallLine): void {
  const { account, key, model, cost, inputTokens, outputTokens } = call;
  const fresh: HourLine = {
    account,
    key,
    model,
    hour: Math.floor(call.at / HOUR_MS),
    calls: 0,
    cost: 0n,
    inputTokens: 0,
    outputTokens: 0,
  };
  const sum = sums.get(placeOf(fresh)) ?? fresh;
  sum.calls++;
  sum.cost += cost;
  sum.inputTokens += inputTokens;
  sum.outputTokens += outputTokens;
  sums.set(placeOf(sum), sum);
}

function isSame(one: HourLine, other: HourLine): boolean {
  const isSameMoney = one.calls === other.calls && one.cost === other.cost;
  return isSameMoney && one.inputTokens === other.inputTokens && one.outputTokens === other.outputTokens;
}

function verifySpending({ key, held, total, holds, summed }: SpendingLine, faults: string[]): void {
  if (total !== summed) faults.push(`Key ${key} has spent ${total}, but its calls add up to ${summed}.`);
  if (held !== holds) faults.push(`Key ${key} has ${held} on hold, but its open holds add up to ${holds}.`);
}
