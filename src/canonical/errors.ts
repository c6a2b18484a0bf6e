/** All errors of calls: one class and one table. The public message and the private cause are separate. */
import type { RateLimits } from './rate-limits.ts';

/** `status`: the HTTP status. `retryable`: whether another target may succeed. The others are the error types of the formats. */
export interface ErrorRow {
  status: number;
  retryable: boolean;
  openai: string;
  anthropic: string;
  google: string;
}

const row = (status: number, retryable: boolean, openai: string, anthropic: string, google: string): ErrorRow => ({
  status,
  retryable,
  openai,
  anthropic,
  google,
});

const refused = (status: number, anthropic: string, google: string) =>
  row(status, false, 'invalid_request_error', anthropic, google);

export const ERRORS = {
  invalid_api_key: row(401, false, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  key_disabled: row(401, false, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  key_expired: row(401, false, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  address_not_allowed: row(403, false, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  model_not_allowed: row(403, false, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  scope_not_allowed: row(403, false, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  routing_not_allowed: row(403, false, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  sign_in_required: row(401, false, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  sign_in_failed: row(401, false, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  permission_denied: row(403, false, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  insufficient_balance: row(402, false, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'),
  budget_exhausted: row(402, false, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'),
  model_not_found: refused(404, 'not_found_error', 'NOT_FOUND'),
  not_found: refused(404, 'not_found_error', 'NOT_FOUND'),
  method_not_allowed: refused(405, 'invalid_request_error', 'INVALID_ARGUMENT'),
  invalid_request: refused(400, 'invalid_request_error', 'INVALID_ARGUMENT'),
  too_many_images: refused(400, 'invalid_request_error', 'INVALID_ARGUMENT'),
  file_reference_unsupported: refused(400, 'invalid_request_error', 'INVALID_ARGUMENT'),
  lossy_translation: refused(400, 'invalid_request_error', 'INVALID_ARGUMENT'),
  conflict: refused(409, 'invalid_request_error', 'ABORTED'),
  request_too_large: refused(413, 'request_too_large', 'INVALID_ARGUMENT'),
  rate_limited: row(429, true, 'rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'),
  /** The provider refused the request itself. Status, code and type are the provider's, if it sent them. */
  upstream_refused: refused(400, 'invalid_request_error', 'INVALID_ARGUMENT'),
  upstream_failed: row(502, true, 'api_error', 'api_error', 'UNAVAILABLE'),
  upstream_unavailable: row(503, true, 'api_error', 'overloaded_error', 'UNAVAILABLE'),
  /** The process has no memory for more work. */
  overloaded: row(503, false, 'api_error', 'overloaded_error', 'UNAVAILABLE'),
  /** The gateway's own database does not answer or accepts no writes. */
  database_unavailable: row(503, false, 'api_error', 'overloaded_error', 'UNAVAILABLE'),
  upstream_timeout: row(504, true, 'api_error', 'timeout_error', 'DEADLINE_EXCEEDED'),
  internal_error: row(500, false, 'api_error', 'api_error', 'INTERNAL'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** Optional details of an error. */
export interface ErrorDetail {
  /** The wrong member of the request, as a path (`messages[0].content`). */
  param?: string;
  /** The HTTP status, if it differs from the row (a provider's refusal). */
  status?: number;
  /** The provider's own code and type, if the provider refused the request itself. */
  providerCode?: string;
  providerErrorType?: string;
  retryAfterSeconds?: number;
  /** What is left of the caller's rate limits, if one was reached. */
  rateLimits?: RateLimits;
  /** Whether another target may succeed, if that differs from the row. */
  retryable?: boolean;
  /** The provider refused the credential, or its account is empty: another credential may work. */
  credentialRefused?: boolean;
  /** Nothing was sent to the provider, so a retry is not a second request. */
  unsent?: boolean;
  /** The connection was lost before any byte of a response. */
  unanswered?: boolean;
  /** The request may have been executed, so a retry could execute it twice. No other target is tried. */
  inDoubt?: boolean;
  /** The provider has answered completely and bills it, so the call is billed. */
  billed?: boolean;
  /** Only for the log, never shown to a client. */
  cause?: unknown;
}

export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly credentialRefused: boolean;
  readonly unsent: boolean;
  readonly unanswered: boolean;
  readonly inDoubt: boolean;
  readonly billed: boolean;
  /** Parts of a split call were answered, and the provider may bill them: the same target is not called again for the whole call. */
  partlyAnswered = false;
  readonly param: string | undefined;
  readonly providerCode: string | undefined;
  readonly providerErrorType: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimits: RateLimits | undefined;

  /** `message` is public: it explains what is wrong and what to do, and contains no address, key or stack. */
  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = detail.status ?? ERRORS[code].status;
    this.inDoubt = detail.inDoubt ?? false;
    this.billed = detail.billed ?? false;
    this.retryable = detail.retryable ?? (!this.inDoubt && ERRORS[code].retryable);
    this.credentialRefused = detail.credentialRefused ?? false;
    this.unsent = detail.unsent ?? false;
    this.unanswered = detail.unanswered ?? false;
    this.param = detail.param;
    this.providerCode = detail.providerCode;
    this.providerErrorType = detail.providerErrorType;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.rateLimits = detail.rateLimits;
  }

  /** The same error with another message. */
  reworded(message: string, param: string | undefined): GatewayError {
    const { code, status, retryable, credentialRefused, unsent, unanswered, inDoubt, billed, cause } = this;
    const { providerCode, providerErrorType, retryAfterSeconds, rateLimits } = this;
    return new GatewayError(code, message, {
      ...{ status, retryable, credentialRefused, unsent, unanswered, inDoubt, billed, cause },
      ...(param !== undefined && { param }),
      ...(providerCode !== undefined && { providerCode }),
      ...(providerErrorType !== undefined && { providerErrorType }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(rateLimits && { rateLimits }),
    });
  }
}

/** Turns anything thrown into a GatewayError. What is not one is an internal error, and its cause stays private. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', 'The gateway had an internal error. Please try again.', { cause: thrown });
}

/** Why a call uses a fallback model. */
export const FALLBACK_REASONS = ['context_length', 'unavailable', 'content_filter'] as const;
export type FallbackReason = (typeof FALLBACK_REASONS)[number];
