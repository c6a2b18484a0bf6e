/** What was wrong with a request below the edge, as an error that callers are told. */
import { GatewayError } from '../canonical/errors.ts';
import { RequestFault } from '../http1/request-fault.ts';

export function requestError(fault: RequestFault): GatewayError {
  const { status, message } = fault;
  if (status < 500) return new GatewayError('invalid_request', message, { status });
  return new GatewayError('internal_error', 'The gateway failed on its own side. Please try again.', { cause: fault });
}

/** What reading a body threw, as an error for callers where the request is to blame. */
export function brokenBody(thrown: unknown): unknown {
  return thrown instanceof RequestFault ? requestError(thrown) : thrown;
}
