/**
 * Verifies that entries, balances, holds, calls, their sums and key spendings agree, and that no entry was altered. It runs while calls
 * continue: each statement reads one snapshot and a bounded part. An account's row is read first, then its entries up to the newest that
 * the row names; entries never change.
 */
import type { BooksReader, Verification, VerifyOptions, VerifyProgress } from './books-reader.ts';
import { verifyAccount } from './chain.ts';
import { NO_CHECKPOINTS } from './checkpoint.ts';
import { verifyDays } from './days.ts';
import { verifyHours } from './hours.ts';
import { Findings, type VerifyReport } from './report.ts';

/** Accounts read per statement. */
const ACCOUNTS = 500;

export async function verifyBooks(books: BooksReader, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { known = NO_CHECKPOINTS, full = false, progress = () => {}, reached = () => {} } = options;
  // Read first: calls recorded later change them, and the next verification checks those.
  const totals = await books.hourTotals();
  const state = { done: 0, total: 0 };
  const verification: Verification = {
    books,
    known,
    full,
    findings: new Findings(),
    keptFrom: await books.keptFrom(),
    counters: {},
    read: { entries: 0, calls: 0 },
    older: { withoutProvider: 0, notInDay: 0 },
    advance(count) {
      state.done += count;
      state.total = Math.max(state.total, state.done);
      progress({ ...state });
    },
    reached,
  };
  const { findings, counters, read } = verification;
  const [accounts, hours] = await Promise.all([
    verifyAccounts(verification, state),
    verifyHours(verification, totals, state),
  ]);
  await verifyDays(verification, totals, hours);
  for (const id of await books.strangers())
    findings.add('stranger', `There are entries of account ${id}, which does not exist.`, { account: id });
  await verifyHolds(verification);
  const holds = await books.holds();
  const { faults, list } = findings;
  const notes = notesOf(verification);
  return { ok: findings.count === 0, ...accounts, holds, counters, faults, findings: list, notes, read };
}

/** A release without these sums recorded the calls, before an upgrade or while it went on. */
function notesOf({ older: { withoutProvider, notInDay } }: Verification): string[] {
  const notes: string[] = [];
  if (withoutProvider > 0)
    notes.push(
      `Calls of an older release in no sum by provider: ${withoutProvider}. Reports show them without a provider.`,
    );
  if (notInDay > 0)
    notes.push(
      `Calls that an older release recorded after their day was summed: ${notInDay}. Reports by day or longer lack them.`,
    );
  return notes;
}

async function verifyAccounts(
  verification: Verification,
  state: VerifyProgress,
): Promise<{ accounts: number; entries: number }> {
  const { books, known, full } = verification;
  let accounts = 0;
  let entries = 0;
  let after: string | undefined;
  for (let more = true; more; ) {
    const lines = await books.accounts(after, ACCOUNTS);
    for (const { id, lastSeq } of lines) state.total += lastSeq - (full ? 0 : (known.accounts.get(id)?.seq ?? 0));
    for (const line of lines) {
      entries += await verifyAccount(verification, line);
      accounts++;
    }
    after = lines.at(-1)?.id;
    more = lines.length === ACCOUNTS;
  }
  return { accounts, entries };
}

async function verifyHolds({ books, findings }: Verification): Promise<void> {
  const { ended, homeless } = await books.wrongHolds();
  for (const hold of ended)
    findings.add('hold-ended', `Call ${hold.callId} is recorded, but its hold is still open.`, hold);
  for (const hold of homeless)
    findings.add('homeless', `The hold of call ${hold.callId} belongs to an account that does not exist.`, hold);
  for (const { key, account, held, total, holds, summed } of await books.wrongSpendings()) {
    const of = { key, ...(account !== null && { account }) };
    if (total !== summed)
      findings.add('key-total', `Key ${key} has spent ${total}, but its calls add up to ${summed}.`, of);
    if (held !== holds)
      findings.add('key-held', `Key ${key} has ${held} on hold, but its open holds add up to ${holds}.`, of);
  }
}
