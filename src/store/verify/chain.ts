/** Verifies one account: its entries since the last checkpoint, and the figures in its row. */
import { DAY_MS } from '../../canonical/time.ts';
import { entryHash } from '../ledger/entry-hash.ts';
import { isOfBill } from '../ledger/ledger-rules.ts';
import type { EntryRow } from '../rows.ts';
import type { AccountLine, EntryRange, Verification } from './books-reader.ts';
import { type ChainState, NO_ENTRIES } from './checkpoint.ts';
import type { Findings } from './report.ts';

/** Entries that the database checks in one statement. */
const RANGE = 20_000;
/** Rows that this process reads at once when something is wrong. */
const CHUNK = 500;

/** Returns the number of the account's entries. */
export async function verifyAccount(verification: Verification, line: AccountLine): Promise<number> {
  const { known, full, counters, findings } = verification;
  const checkpoint = known.accounts.get(line.id);
  const before = findings.count;
  const isUsable = checkpoint !== undefined && (await fits(verification, line, checkpoint));
  const context = { state: NO_ENTRIES, count: 0 };
  if (isUsable && !full) Object.assign(context, { state: checkpoint, count: checkpoint.seq });
  // If everything is read again, the chain must still contain the verified checkpoint.
  else if (isUsable) await verifyTo(verification, line.id, context, checkpoint.seq);
  if (full && isUsable && context.state.hash !== checkpoint.hash) rewritten(findings, line.id, checkpoint);
  await verifyTo(verification, line.id, context, line.lastSeq);
  const { state, count } = context;
  const wasClean = findings.count === before;
  for (const [name, sum] of Object.entries(state.counters)) counters[name] = (counters[name] ?? 0n) + sum;
  compare(line, state, findings);
  if (wasClean && state.seq === line.lastSeq && state.seq > 0 && checkpoint?.hash !== state.hash)
    verification.reached([{ account: line.id, state }]);
  return count;
}

/** Whether the entries covered by the checkpoint can still be there, judged by the checkpoint's own entry. */
async function fits({ books, findings }: Verification, line: AccountLine, checkpoint: ChainState): Promise<boolean> {
  const { seq, hash } = checkpoint;
  if (line.lastSeq < seq) {
    findings.add(
      'checkpoint',
      `Account ${line.id} ends at entry ${line.lastSeq}, but it was verified up to entry ${seq}: entries were removed.`,
      { account: line.id },
    );
    return false;
  }
  const found = line.lastSeq === seq ? line.newest?.hash : (await books.entries(line.id, seq - 1, 1))[0]?.hash;
  if (found === hash) return true;
  rewritten(findings, line.id, checkpoint);
  return false;
}

function rewritten(findings: Findings, account: string, { seq }: ChainState): void {
  const fault = `Entry ${seq} of account ${account} was altered after it was verified: its hash is not the signed one.`;
  findings.add('checkpoint', fault, { account });
}

interface ChainRead {
  state: ChainState;
  count: number;
}

/** Verifies the entries from where `context` is up to `to`, and moves it there. */
async function verifyTo(verification: Verification, account: string, context: ChainRead, to: number): Promise<void> {
  const { books, findings, read } = verification;
  while (context.state.seq < to) {
    const { state } = context;
    const range: EntryRange = { account, after: state.seq, to: Math.min(to, state.seq + RANGE) };
    const [sums, isDoubtful, charges] = await Promise.all([
      books.sums(range),
      books.isDoubtful(range, state),
      books.doubtfulCharges(range, verification.keptFrom),
    ]);
    const count = sums.reduce((all, { entries }) => all + entries, 0);
    await verifyCharges(verification, charges);
    const amount = sums.reduce((all, sum) => all + sum.amount, 0n);
    let last: Pick<ChainState, 'seq' | 'hash' | 'balance'> | undefined;
    if (!isDoubtful && count === range.to - range.after) {
      const [entry] = await books.entries(account, range.to - 1, 1);
      if (entry) last = { seq: entry.seq, hash: entry.hash, balance: state.balance + amount };
    }
    last ??= await verifyOneByOne(verification, range, state);
    const counters = { ...state.counters };
    let { spent } = state;
    for (const sum of sums) {
      counters[sum.counter] = (counters[sum.counter] ?? 0n) - sum.amount;
      if (isOfBill(sum.kind)) spent -= sum.amount;
    }
    context.state = { ...last, spent, counters };
    context.count += count;
    read.entries += count;
    verification.advance(range.to - range.after);
    if (context.state.seq < range.to) {
      findings.add('entry', `Entries ${context.state.seq + 1} to ${range.to} of account ${account} are missing.`, {
        account,
      });
      context.state = { ...context.state, seq: range.to };
    }
  }
}

/** Finds and names what is wrong, entry by entry. */
async function verifyOneByOne({ books, findings }: Verification, range: EntryRange, start: ChainState) {
  let last: Pick<ChainState, 'seq' | 'hash' | 'balance'> = start;
  for (;;) {
    const page = await books.entries(range.account, last.seq, CHUNK);
    for (const entry of page) {
      if (entry.seq > range.to) return last;
      verifyEntry(entry, last, findings);
      last = { seq: entry.seq, hash: entry.hash, balance: last.balance + entry.amount };
    }
    if (page.length < CHUNK || last.seq >= range.to) return last;
  }
}

function verifyEntry(entry: EntryRow, last: Pick<ChainState, 'seq' | 'hash' | 'balance'>, findings: Findings): void {
  const name = nameOf(entry);
  const of = { account: entry.account };
  const balance = last.balance + entry.amount;
  if (entry.seq !== last.seq + 1)
    findings.add('entry', `${name} follows entry ${last.seq}: the entries between them are missing.`, of);
  if (entry.balanceAfter !== balance)
    findings.add(
      'entry',
      `${name} has a balance of ${entry.balanceAfter} after it, but the correct balance is ${balance}.`,
      of,
    );
  if (entry.hash !== entryHash(last.hash, entry))
    findings.add('entry', `${name} was altered: its hash does not match.`, of);
}

async function verifyCharges({ books, findings }: Verification, charges: readonly EntryRow[]): Promise<void> {
  for (let at = 0; at < charges.length; at += CHUNK) {
    const page = charges.slice(at, at + CHUNK);
    const times = page.map((entry) => entry.at);
    const ids = page.map(({ callId = '' }) => callId);
    const found = await books.callsOf(ids, Math.min(...times), Math.max(...times));
    const calls = new Map(found.map((call) => [call.id, call]));
    // Old calls are removed while this runs, many days of them after a restore or a long stop.
    const keptFrom = page.every(({ callId = '' }) => calls.has(callId)) ? 0 : await books.keptFrom();
    for (const entry of page) {
      const call = calls.get(entry.callId ?? '');
      const of = { account: entry.account, ...(entry.callId !== undefined && { callId: entry.callId }) };
      if (!call) {
        // A call may have begun a day before its charge, and calls are removed by their start.
        if (entry.at >= keptFrom + DAY_MS)
          findings.add('charge', `${nameOf(entry)} charges call ${entry.callId}, which is not recorded.`, of);
        continue;
      }
      const named = entry.kind === 'charge' ? call.entrySeq : call.completionSeq;
      if (named === entry.seq && call.account === entry.account && call.cost === call.charged) continue;
      const charge = `${nameOf(entry)} charges ${-entry.amount} for call ${call.id}`;
      findings.add('charge', `${charge}, whose record says ${call.cost} by entry ${named}.`, of);
    }
  }
}

const nameOf = ({ seq, account }: EntryRow) => `Entry ${seq} of account ${account}`;

/** Compares the account's row with its entries and holds. */
function compare(line: AccountLine, state: ChainState, findings: Findings): void {
  const of = { account: line.id };
  const name = `Account ${line.id}`;
  if (line.holds !== line.held)
    findings.add('account-held', `${name} has ${line.held} on hold, but its open holds add up to ${line.holds}.`, of);
  if (state.balance !== line.balance) {
    const fault = `${name} has the balance ${line.balance}, but its entries add up to ${state.balance}.`;
    findings.add('account-balance', fault, of);
  }
  if (state.spent !== line.spent) {
    const fault = `${name} has spent ${line.spent}, but its charges add up to ${state.spent}.`;
    findings.add('account-spent', fault, of);
  }
  if (line.newestSeq !== line.lastSeq || (line.lastSeq > 0 && state.hash !== line.lastHash)) {
    const fault = `${name} ends at entry ${line.lastSeq}, but its newest entry is ${line.newestSeq}.`;
    findings.add('end', fault, of);
  }
}
