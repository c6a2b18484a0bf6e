/** The hash chain of the ledger: each entry's hash covers the entry and the hash of the previous entry. */
import { digitsOf } from '../../canonical/money.ts';
import type { EntryRow } from '../rows.ts';

/** The previous hash of an account's first entry. */
export const CHAIN_START = '';

/** SHA-256 over the previous entry's hash and this entry's members, in hex. */
export function entryHash(previous: string, entry: Omit<EntryRow, 'hash'>): string {
  // As a JSON array, so that different members never give the same text.
  const members = [
    previous,
    entry.account,
    entry.seq,
    entry.kind,
    digitsOf(entry.amount),
    digitsOf(entry.balanceAfter),
    entry.counter,
    entry.callId ?? null,
    entry.note ?? null,
    entry.idempotencyKey ?? null,
    entry.at,
  ];
  return Bun.SHA256.hash(JSON.stringify(members), 'hex');
}
