/** A request the sandbox refuses, in the words of OpenAI's error object. */

export class Refusal extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, param: string | null = null, code: string | null = null) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }
}

const TYPES: { readonly [status: number]: string } = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

export function refusalReply(refusal: Refusal): Response {
  const { status, message, param } = refusal;
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const code = refusal.code ?? (status === 429 ? 'rate_limit_exceeded' : null);
  const headers = new Headers({ 'x-request-id': 'sandbox' });
  if (status === 429) headers.set('retry-after', '1');
  return Response.json({ error: { message, type, param, code } }, { status, headers });
}
