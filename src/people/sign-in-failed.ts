/** The answer to every sign-in that fails. */
import { GatewayError } from '../canonical/errors.ts';

/** One sentence for every cause: it must not reveal who has an account. */
export function signInFailed(): GatewayError {
  return new GatewayError(
    'sign_in_failed',
    'Signing in failed: what was entered is wrong, was used already, or has ended.',
  );
}
