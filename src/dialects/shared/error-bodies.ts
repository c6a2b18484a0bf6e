/** The error bodies of OpenAI, Anthropic and Google. Their official libraries map each to their exceptions. */
import { ERRORS, type GatewayError } from '../../canonical/errors.ts';
import type { WireReply } from '../dialect.ts';

export type ErrorWriter = (error: GatewayError, requestId: string) => WireReply;

/**
 * OpenAI's error response (docs/api.md#errors): chat, completions, responses, images, embeddings, rerank, models,
 * tasks.
 */
export const openaiError: ErrorWriter = (error, requestId) =>
  reply(error, requestId, error.status, { error: openaiErrorObject(error) });

/** The `error` object of the body. A stream that breaks off sends it too. */
export function openaiErrorObject(error: GatewayError) {
  return {
    message: error.message,
    type: error.providerErrorType ?? ERRORS[error.code].openai,
    // Always a string: see docs/api.md#errors.
    param: error.param ?? '',
    code: error.providerCode ?? error.code,
  };
}

/** The HTTP status of Anthropic's `overloaded_error` (Anthropic API reference, "Errors"). */
const ANTHROPIC_OVERLOADED_STATUS = 529;

export const anthropicError: ErrorWriter = (error, requestId) => {
  const type = anthropicErrorType(error);
  const status = type === 'overloaded_error' ? ANTHROPIC_OVERLOADED_STATUS : error.status;
  return reply(error, requestId, status, {
    type: 'error',
    error: { type, message: error.message },
    request_id: requestId,
  });
};

const ANTHROPIC_TYPE_BY_STATUS: { [status: number]: string } = {
  404: 'not_found_error',
  413: 'request_too_large',
};

export function anthropicErrorType(error: GatewayError): string {
  return (error.code === 'upstream_refused' && ANTHROPIC_TYPE_BY_STATUS[error.status]) || ERRORS[error.code].anthropic;
}

export const googleError: ErrorWriter = (error, requestId) =>
  reply(error, requestId, error.status, { error: googleErrorObject(error) });

/** `code` must be a number: Google's library ignores an error whose `code` is a string. */
export function googleErrorObject(error: GatewayError) {
  const reason = (error.providerCode ?? error.code).toUpperCase();
  const details: object[] = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'modelport' }];
  if (error.param !== undefined) {
    const fieldViolations = [{ field: error.param, description: error.message }];
    details.push({ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations });
  }
  if (error.retryAfterSeconds !== undefined) {
    details.push({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${error.retryAfterSeconds}s` });
  }
  const status = error.code === 'upstream_refused' && error.status === 404 ? 'NOT_FOUND' : ERRORS[error.code].google;
  return { code: error.status, message: error.message, status, details };
}

function reply(error: GatewayError, requestId: string, status: number, body: object): WireReply {
  const headers: { [name: string]: string } = { 'content-type': 'application/json', 'x-request-id': requestId };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  // The libraries retry some of these statuses. A retry does not fill a balance, and it would repeat work that may
  // already be done.
  if (status === 402 || error.inDoubt || (error.code === 'rate_limited' && !error.retryable))
    headers['x-should-retry'] = 'false';
  return { status, headers, body: JSON.stringify(body) };
}
