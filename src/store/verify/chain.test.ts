import { expect, test } from 'bun:test';
import { DAY_MS } from '../../canonical/time.ts';
import { CHAIN_START } from '../ledger/entry-hash.ts';
import type { EntryRow } from '../rows.ts';
import { verifyBooks } from './books.ts';
import type { AccountLine, BooksReader } from './books-reader.ts';

const AT = 100 * DAY_MS;
const ENTRY: EntryRow = {
  account: 'acc_1',
  seq: 1,
  kind: 'charge',
  amount: -5n,
  balanceAfter: -5n,
  counter: 'revenue',
  callId: 'call_1',
  at: AT,
  hash: 'hash',
};
const ACCOUNT: AccountLine = {
  id: 'acc_1',
  balance: -5n,
  held: 0n,
  spent: 5n,
  lastSeq: 1,
  lastHash: 'hash',
  holds: 0n,
  newestSeq: 1,
  newest: { hash: 'hash', balanceAfter: -5n },
};

/** One account with one charge, whose call is not there. Calls are kept from the times given, one for each time it is asked. */
function books(...kept: number[]): BooksReader {
  const none = async () => [];
  return {
    keptFrom: async () => (kept.length > 1 ? kept.shift() : kept[0]) ?? 0,
    accounts: async () => [ACCOUNT],
    entries: async () => [ENTRY],
    isDoubtful: async (_, before) => before.hash !== CHAIN_START,
    sums: async () => [{ kind: 'charge', counter: 'revenue', entries: 1, amount: -5n }],
    doubtfulCharges: async () => [ENTRY],
    callsOf: none,
    hourTotals: none,
    wrongCalls: none,
    holds: async () => 0,
    strangers: none,
    wrongHolds: async () => ({ ended: [], homeless: [] }),
    wrongSpendings: none,
    hours: async () => ({ byModel: [], byProvider: [], olderCalls: 0, hasDoubtful: false }),
    tags: none,
    days: none,
    day: none,
    olderCalls: async () => 0,
  };
}

test('a charge without its call is a fault, unless the call may have been removed meanwhile', async () => {
  const { faults } = await verifyBooks(books(0));
  expect(faults).toEqual(['Entry 1 of account acc_1 charges call call_1, which is not recorded.']);
  // Removed while this runs: the time from which calls are kept was read before.
  expect((await verifyBooks(books(0, AT + 1))).faults).toEqual([]);
});
