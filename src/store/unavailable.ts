/** The error for callers when the database cannot be reached or accepts no writes. */
import { GatewayError } from '../canonical/errors.ts';

const RETRY_AFTER_SECONDS = 1;

export function databaseUnavailable(cause: unknown): GatewayError {
  const sentence = "The gateway's database does not answer at the moment. Please try again.";
  return new GatewayError('database_unavailable', sentence, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
