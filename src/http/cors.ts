/** CORS: response headers for browsers, and answers to preflight requests. */
import type { Answer } from '../http1/answer.ts';
import type { ClientRequest } from '../http1/client-request.ts';

/** The response headers that code in a browser may read. */
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
  'x-modelport-provider',
  'x-modelport-warnings',
  'x-modelport-cache',
].join(', ');

/** Client libraries send dozens of headers of their own, so all requested headers are allowed. */
export function preflight(request: ClientRequest): Answer {
  const headers: { [name: string]: string } = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-max-age': '86400',
    vary: 'access-control-request-headers',
  };
  const wanted = request.headers.get('access-control-request-headers');
  if (wanted !== null) headers['access-control-allow-headers'] = wanted;
  return { status: 204, headers, body: undefined };
}

/** Lets the page of any origin read the response. */
export function shareWithBrowser(answer: Answer): Answer {
  answer.headers['access-control-allow-origin'] = '*';
  answer.headers['access-control-expose-headers'] = EXPOSED;
  return answer;
}
