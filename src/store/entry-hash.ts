/** The hash chain of a ledger: each entry's hash covers the entry and the hash before it. */
import type { EntryRow } from './rows.ts';

/** What the first entry of an account has for a hash before it. */
export const CHAIN_START = '';

/** SHA-256 over the previous entry's hash and this entry's members, hex. */
export function entryHash(previous: string, entry: Omit<EntryRow, 'hash'>): string {
  // A JSON array keeps the members apart: no two different entries can share one text.
  const members = [
    previous,
    entry.account,
    entry.seq,
    entry.kind,
    entry.amount.toString(),
    entry.balanceAfter.toString(),
    entry.counter,
    entry.callId ?? null,
    entry.note ?? null,
    entry.idempotencyKey ?? null,
    entry.at,
  ];
  return Bun.SHA256.hash(JSON.stringify(members), 'hex');
}
