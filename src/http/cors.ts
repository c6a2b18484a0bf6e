/** Browsers may call: what they are told, on a preflight and on an answer. */
import type { Answer } from '../http1/answer.ts';
import type { ClientRequest } from '../http1/client-request.ts';

/** What a client's code may read of an answer's headers. */
const EXPOSED = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'anthropic-ratelimit-requests-limit',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-requests-reset',
  'anthropic-ratelimit-tokens-limit',
  'anthropic-ratelimit-tokens-remaining',
  'anthropic-ratelimit-tokens-reset',
  'x-modelport-cost',
  'x-modelport-attempts',
  'x-modelport-warnings',
].join(', ');

/** The client libraries send dozens of headers of their own, so all that are asked for are allowed. */
export function preflight(request: ClientRequest): Answer {
  const headers: { [name: string]: string } = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-max-age': '86400',
    vary: 'access-control-request-headers',
  };
  const asked = request.headers.get('access-control-request-headers');
  if (asked !== null) headers['access-control-allow-headers'] = asked;
  return { status: 204, headers, body: undefined };
}

/** Lets the page that asked read the answer. */
export function shareWithBrowser(answer: Answer): Answer {
  answer.headers['access-control-allow-origin'] = '*';
  answer.headers['access-control-expose-headers'] = EXPOSED;
  return answer;
}
