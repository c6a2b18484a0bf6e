/** Finds the API key in a request. A bearer token has precedence. */

import { GatewayError } from '../canonical/errors.ts';
import type { ClientRequest } from '../http1/client-request.ts';

/** Where a route looks for the key: `bearer` always, and the places of the formats it serves. */
export interface Carriers {
  /** `x-api-key`. */
  anthropic?: true;
  /** `x-goog-api-key`, `x-vendor2-api-key`, `?key=`. */
  google?: true;
}

const BEARER = /^bearer +(\S+) *$/i;

/** The key in the request, or `undefined`. */
export function clientKey(request: Pick<ClientRequest, 'headers' | 'target'>, carriers: Carriers): string | undefined {
  const { headers } = request;
  const authorization = headers.get('authorization');
  if (authorization !== null) {
    // Fast path for the usual form, without a regular expression.
    if (authorization.startsWith('Bearer sk-') && !authorization.includes(' ', 7)) return authorization.slice(7);
    const token = BEARER.exec(authorization)?.[1];
    if (token) return token;
  }
  let key: string | null | undefined;
  if (carriers.anthropic) key = headers.get('x-api-key');
  if (!key && carriers.google) {
    key = headers.get('x-goog-api-key') || headers.get('x-vendor2-api-key') || queryOf(request.target).get('key');
  }
  return key || undefined;
}

/** The key, if it is in a place that the route reads. Throws `invalid_api_key` if it is in another place. */
export function presentedKey(
  request: Pick<ClientRequest, 'headers' | 'target'>,
  carriers: Carriers,
): string | undefined {
  const key = clientKey(request, carriers);
  if (key === undefined) refuseMisplaced(request);
  return key;
}

const OTHER_HEADERS = ['x-api-key', 'x-goog-api-key', 'x-vendor2-api-key', 'api-key'];
const OTHER_PARAMETERS = ['key', 'api_key', 'api-key'];
const RIGHT = 'send it as "Authorization: Bearer sk-…"';

/** The error names the place and never its content. */
function refuseMisplaced({ headers, target }: Pick<ClientRequest, 'headers' | 'target'>): void {
  const header = OTHER_HEADERS.find((name) => headers.get(name));
  if (header) throw misplaced(`The API key is in the header \`${header}\`, which this endpoint does not read`);
  const parameter = OTHER_PARAMETERS.find((name) => queryOf(target).get(name));
  if (parameter) throw misplaced(`The API key is in the query (\`${parameter}\`), which this endpoint does not read`);
  if (headers.get('authorization')) throw misplaced('The header `authorization` does not hold one bearer token');
}

function misplaced(what: string): GatewayError {
  return new GatewayError('invalid_api_key', `${what}: ${RIGHT}.`);
}

const NO_QUERY = new URLSearchParams();

/** The parsed query of a request target. Targets without a query share one object, which must not be changed. */
export function queryOf(target: string): URLSearchParams {
  const at = target.indexOf('?');
  return at < 0 ? NO_QUERY : new URLSearchParams(target.slice(at));
}
