/** Redemption codes: random, shown once, stored as a hash with the last four characters for display. */
import { createHmac, hash } from 'node:crypto';
import { newId } from '../canonical/id.ts';

const PREFIX = 'credit-';
const LENGTH = 24;

/** For repeated requests: derives the same code from the requester's secret and idempotency key, so it need not be stored. */
export interface Repeatable {
  secret: string;
  idempotencyKey: string;
}

/** A new code, `credit-` and 24 characters, with what is stored of it. With a `request` the code is always the same for that request. */
export function issueCode(request?: Repeatable): { code: string; hash: string; last4: string } {
  const code = request ? PREFIX + lettersOf(request) : newId(PREFIX, LENGTH);
  return { code, hash: hashCode(code), last4: code.slice(-4) };
}

const lettersOf = ({ secret, idempotencyKey }: Repeatable) =>
  createHmac('sha256', secret).update(`code:${idempotencyKey}`).digest('hex').slice(0, LENGTH);

/** White space around a code comes from copying it. */
export function hashCode(code: string): string {
  return hash('sha256', code.trim(), 'hex');
}
