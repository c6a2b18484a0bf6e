/** Reads the provider's errors: responses, and errors in a stream. */
import { GatewayError } from '../../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { readErrorObject, readOpenaiError } from '../../shared/openai-errors.ts';

/** The provider reports a wrong key, and a gateway in an unsupported country, with status 400. */
const KEY_REASONS: readonly unknown[] = ['API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_SERVICE_BLOCKED'];
const PLACE = /location is not supported/i;
const SECONDS = /^(\d+(?:\.\d+)?)s$/;
const UNAUTHENTICATED = 401;
const TOO_MANY = 429;

export function readError(status: number, headers: Headers, body: Uint8Array): GatewayError {
  const text = new TextDecoder().decode(body);
  const error = errorIn(text);
  // For the log: codes only, no messages. A message may quote a key, a project or a prompt.
  const cause = { status, word: error.status };
  if (isGatewaysFault(error)) return readOpenaiError(UNAUTHENTICATED, headers, body);
  const read = readOpenaiError(status, headers, body);
  const refusal = status === TOO_MANY ? tooMany(cause, read.retryAfterSeconds) : read;
  return withDetails(refusal, error, headers.get('retry-after') === null);
}

/** Reads the `error` member of a body with status 200. */
export function readStreamError(error: JsonObject): GatewayError {
  if (isGatewaysFault(error)) return readErrorObject({ ...error, status_code: UNAUTHENTICATED });
  const cause = { status: error.code, word: error.status };
  return withDetails(error.code === TOO_MANY ? tooMany(cause) : readErrorObject(error), error, true);
}

function errorIn(text: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return {};
  }
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return isObject(first) && isObject(first.error) ? first.error : {};
}

function isGatewaysFault(error: JsonObject): boolean {
  if (typeof error.message === 'string' && PLACE.test(error.message)) return true;
  return detailsOf(error).some((detail) => KEY_REASONS.includes(detail.reason));
}

/** The provider calls every limit "quota". Another target may have some left. */
function tooMany(cause: unknown, retryAfterSeconds?: number): GatewayError {
  const message = 'The model is receiving too many requests. Please try again later or use another model.';
  return new GatewayError('rate_limited', message, {
    cause,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Adds the provider's details: its error code and how long to wait. */
function withDetails(read: GatewayError, error: JsonObject, takesDelay: boolean): GatewayError {
  const seconds = takesDelay ? retryDelaySeconds(error) : undefined;
  const retryAfterSeconds = seconds ?? read.retryAfterSeconds;
  const word = read.code === 'upstream_refused' && typeof error.status === 'string' ? error.status : read.providerCode;
  return new GatewayError(read.code, read.message, {
    cause: read.cause,
    status: read.status,
    retryable: read.retryable,
    credentialRefused: read.credentialRefused,
    ...(word !== undefined && { providerCode: word }),
    ...(read.providerErrorType !== undefined && { providerErrorType: read.providerErrorType }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

function retryDelaySeconds(error: JsonObject): number | undefined {
  for (const { retryDelay } of detailsOf(error)) {
    const match = typeof retryDelay === 'string' ? SECONDS.exec(retryDelay) : null;
    if (match) return Math.ceil(Number(match[1]));
  }
  return undefined;
}

function detailsOf(error: JsonObject): JsonObject[] {
  return Array.isArray(error.details) ? error.details.filter(isObject) : [];
}
