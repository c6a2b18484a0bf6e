/** The key by which whoever moves money says that a request is the same as one before. */
import { GatewayError } from '../canonical/errors.ts';

const LONGEST = 255;
/** Entries of our own have such keys: redemptions, corrections of bills, and disputes that were settled. */
const OURS = /^(code:code_|replay:|dispute:)/;

/** Throws `invalid_request` where it is too long, or could be taken for a key of ours: it would stand in the way of that entry. */
export function checkIdempotencyKey(key: string): string {
  const fault =
    key.length > LONGEST
      ? `An Idempotency-Key has at most ${LONGEST} characters.`
      : OURS.test(key) &&
        'An Idempotency-Key does not begin with "code:code_", "replay:" or "dispute:": use another one.';
  if (!fault) return key;
  throw new GatewayError('invalid_request', fault, { param: 'idempotency-key' });
}
