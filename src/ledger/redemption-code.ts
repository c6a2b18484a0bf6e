/** Redemption codes: made at random, shown once, kept as a hash with the last four characters for display. */
import { createHmac, hash } from 'node:crypto';
import { newId } from '../canonical/id.ts';

const PREFIX = 'credit-';
const LENGTH = 24;

/** Of the same request, the same code again: nobody keeps it, and only who has the requester's secret can tell it. */
export interface Repeatable {
  secret: string;
  idempotencyKey: string;
}

export function issueCode(request?: Repeatable): { code: string; hash: string; last4: string } {
  const code = request ? PREFIX + lettersOf(request) : newId(PREFIX, LENGTH);
  return { code, hash: hashCode(code), last4: code.slice(-4) };
}

const lettersOf = ({ secret, idempotencyKey }: Repeatable) =>
  createHmac('sha256', secret).update(`code:${idempotencyKey}`).digest('hex').slice(0, LENGTH);

/** Blanks around a code come from copying it. */
export function hashCode(code: string): string {
  return hash('sha256', code.trim(), 'hex');
}
