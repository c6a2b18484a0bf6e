/** Reads the provider's errors: responses, and errors in a stream. */
import { entryOf } from '../../../canonical/entry-of.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Json } from '../../../canonical/json.ts';
import { isObject } from '../../../canonical/json.ts';
import { readErrorObject, readOpenaiError } from '../../shared/openai-errors.ts';

const STATUSES: { readonly [type: string]: number } = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The provider reports an empty balance with status 400. It is the operator's account. */
const EMPTY_ACCOUNT = /credit balance is too low/i;
/** A conflict with another request. The same request may succeed at another target. */
const CONFLICT = 409;

export function readError(status: number, headers: Headers, body: Uint8Array): GatewayError {
  if (EMPTY_ACCOUNT.test(new TextDecoder().decode(body.subarray(0, 4096)))) return readOpenaiError(402, headers, body);
  return readOpenaiError(status === CONFLICT ? 503 : status, headers, body);
}

/** Reads the `error` member of an `error` event, or of a body with status 200. */
export function readStreamError(error: Json | undefined): GatewayError {
  if (!isObject(error)) return new GatewayError('upstream_failed', 'The provider returned an error without a message.');
  const { type, message } = error;
  const isEmptied = typeof message === 'string' && EMPTY_ACCOUNT.test(message);
  const status = isEmptied ? 402 : (typeof type === 'string' && entryOf(STATUSES, type)) || 500;
  return readErrorObject({ ...error, status_code: status });
}
