/** The error for an unusable credential. The operator sees it, clients do not. */
import { GatewayError } from '../canonical/errors.ts';

/** The attempt fails and the next target is tried. `why` must not contain secrets. */
export function unusable(why: string): GatewayError {
  return new GatewayError('upstream_failed', "The gateway's credential for the provider cannot be used.", {
    cause: why,
  });
}
