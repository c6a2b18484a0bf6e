/** Redemption codes: made at random, shown once, kept as a hash with the last four characters for display. */
import { hash } from 'node:crypto';
import { newId } from '../canonical/id.ts';

const PREFIX = 'credit-';
const LENGTH = 24;

export function issueCode(): { code: string; hash: string; last4: string } {
  const code = newId(PREFIX, LENGTH);
  return { code, hash: hashCode(code), last4: code.slice(-4) };
}

/** Blanks around a code come from copying it. */
export function hashCode(code: string): string {
  return hash('sha256', code.trim(), 'hex');
}
