/** Checks the idempotency keys of clients. */
import { GatewayError } from '../canonical/errors.ts';

const LONGEST = 255;
/** Keys that the gateway itself uses: redemptions, corrections, and settled disputes. */
const OURS = /^(code:code_|replay:|dispute:)/;

/** Throws `invalid_request` if the key is too long, or could collide with one of the gateway's own. */
export function checkIdempotencyKey(key: string): string {
  const fault =
    key.length > LONGEST
      ? `An Idempotency-Key may have at most ${LONGEST} characters.`
      : OURS.test(key) &&
        'An Idempotency-Key must not begin with "code:code_", "replay:" or "dispute:": use another one.';
  if (!fault) return key;
  throw new GatewayError('invalid_request', fault, { param: 'idempotency-key' });
}
