/** Turns errors of the HTTP server into errors for callers. */
import { GatewayError } from '../canonical/errors.ts';
import { RequestFault } from '../http1/request-fault.ts';

export function requestError(fault: RequestFault): GatewayError {
  const { status, message } = fault;
  if (status < 500) return new GatewayError('invalid_request', message, { status });
  return new GatewayError('internal_error', 'The gateway had an internal error. Please try again.', { cause: fault });
}

/** The error for a body that could not be read, if the request caused it. */
export function brokenBody(thrown: unknown): unknown {
  return thrown instanceof RequestFault ? requestError(thrown) : thrown;
}
