/** Every way a call can fail: one class, one table. A public sentence and a private cause never mix. */
import type { RateLimits } from './rate-limits.ts';

/** `status` is the HTTP status; `retryable` says whether another target may succeed; the rest are the type words of the formats. */
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
const locked = (status: number, openai: string, anthropic: string, google: string) =>
  row(status, false, openai, anthropic, google);

export const ERRORS = {
  invalid_api_key: locked(401, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  key_disabled: locked(401, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  key_expired: locked(401, 'authentication_error', 'authentication_error', 'UNAUTHENTICATED'),
  address_not_allowed: locked(403, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  model_not_allowed: locked(403, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  scope_not_allowed: locked(403, 'permission_error', 'permission_error', 'PERMISSION_DENIED'),
  insufficient_balance: locked(402, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'),
  budget_exhausted: locked(402, 'insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'),
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
  /** The provider refused the request itself; status, code and type are the provider's where it gave them. */
  upstream_refused: refused(400, 'invalid_request_error', 'INVALID_ARGUMENT'),
  upstream_failed: row(502, true, 'api_error', 'api_error', 'UNAVAILABLE'),
  upstream_unavailable: row(503, true, 'api_error', 'overloaded_error', 'UNAVAILABLE'),
  /** No memory is left for more work. */
  overloaded: row(503, false, 'api_error', 'overloaded_error', 'UNAVAILABLE'),
  /** The gateway's own database does not answer, or takes nothing. */
  database_unavailable: row(503, false, 'api_error', 'overloaded_error', 'UNAVAILABLE'),
  upstream_timeout: row(504, true, 'api_error', 'timeout_error', 'DEADLINE_EXCEEDED'),
  internal_error: row(500, false, 'api_error', 'api_error', 'INTERNAL'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** What may be said beyond the code's row. */
export interface ErrorDetail {
  /** The member of the request that was wrong, as a path (`messages[0].content`). */
  param?: string;
  /** The HTTP status where it is not the row's (a provider's refusal). */
  status?: number;
  /** The provider's own words for code and type, passed on where the provider refused the request itself. */
  vendorCode?: string;
  vendorType?: string;
  retryAfterSeconds?: number;
  /** What is left of the caller's limits, where one of them was reached. */
  rateLimits?: RateLimits;
  /** Whether another target may succeed where that differs from the row. */
  retryable?: boolean;
  /** The provider did not accept our credential, or its account is used up: another credential may do. */
  credentialRefused?: boolean;
  /** Nothing of the request left for the upstream: sent again, it is no second one. */
  unsent?: boolean;
  /** What was asked for may be done all the same: sent again, it may be done twice. No other target is to be tried. */
  inDoubt?: boolean;
  /** The provider has answered in full, and bills it: so is the call. */
  billed?: boolean;
  /** For the log only: never shown to a client. */
  cause?: unknown;
}

export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly credentialRefused: boolean;
  readonly unsent: boolean;
  readonly inDoubt: boolean;
  readonly billed: boolean;
  readonly param: string | undefined;
  readonly vendorCode: string | undefined;
  readonly vendorType: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimits: RateLimits | undefined;

  /** `message` is public: what was wrong and what would be right, never an address, a key or a stack. */
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
    this.param = detail.param;
    this.vendorCode = detail.vendorCode;
    this.vendorType = detail.vendorType;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.rateLimits = detail.rateLimits;
  }

  /** The same failure in other words. */
  reworded(message: string, param: string | undefined): GatewayError {
    const { code, status, retryable, credentialRefused, unsent, inDoubt, billed, cause } = this;
    const { vendorCode, vendorType, retryAfterSeconds, rateLimits } = this;
    return new GatewayError(code, message, {
      ...{ status, retryable, credentialRefused, unsent, inDoubt, billed, cause },
      ...(param !== undefined && { param }),
      ...(vendorCode !== undefined && { vendorCode }),
      ...(vendorType !== undefined && { vendorType }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(rateLimits && { rateLimits }),
    });
  }
}

/** Any thrown thing as a GatewayError: our own pass, everything else is our own fault and keeps its cause private. */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', 'The gateway failed on its own side. Please try again.', { cause: thrown });
}
