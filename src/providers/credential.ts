/** What is said of a credential that nothing can be done with: to the operator, not to clients. */
import { GatewayError } from '../canonical/errors.ts';

/** The attempt fails, and the next target is tried; `why` holds nothing secret. */
export function unusable(why: string): GatewayError {
  return new GatewayError('upstream_failed', "The gateway's credential for the provider cannot be used.", {
    cause: why,
  });
}
