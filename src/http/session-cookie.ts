/** The cookie of a session, and which requests may use it. */
import { GatewayError } from '../canonical/errors.ts';

/** The headers of a request that identify its origin. */
export interface CookieRequest {
  method: string;
  headers: Pick<Headers, 'get' | 'has'>;
}

/** With the prefix browsers accept the cookie only from this host and on TLS, so that no other name of the domain can set it. */
const SECURE_NAME = '__Host-modelport';
const PLAIN_NAME = 'modelport_session';

/** The value of the session's cookie, or `undefined`. `isSecure`: all clients use TLS, so only the protected cookie counts. */
export function sessionSecret(headers: Pick<Headers, 'get'>, isSecure: boolean): string | undefined {
  const written = headers.get('cookie');
  if (written === null) return undefined;
  return cookieIn(written, SECURE_NAME) ?? (isSecure ? undefined : cookieIn(written, PLAIN_NAME));
}

export function cookieIn(cookies: string, name: string): string | undefined {
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
}

/** The value of `set-cookie`. TLS may end at a proxy: then the page's own origin decides. */
export function writeCookie(
  secret: string,
  maxAgeMs: number,
  headers: Pick<Headers, 'get'>,
  isSecure: boolean,
): string {
  const isProtected = isSecure || (headers.get('origin') ?? '').startsWith('https:');
  const name = isProtected ? SECURE_NAME : PLAIN_NAME;
  const parts = [`${name}=${secret}`, 'Path=/', 'HttpOnly', 'SameSite=Lax', ...(isProtected ? ['Secure'] : [])];
  return [...parts, `Max-Age=${Math.floor(maxAgeMs / 1000)}`].join('; ');
}

/**
 * Throws `permission_denied` if the page of another origin could have sent the request. Browsers say where a request comes from in `origin`
 * and `sec-fetch-site`; a change needs at least one of them. `publicUrl`: the console's URL if a proxy changes the host.
 */
export function refuseOtherOrigin({ method, headers }: CookieRequest, publicUrl: string | undefined): void {
  const site = headers.get('sec-fetch-site');
  const origin = headers.get('origin');
  const isRead = method === 'GET' || method === 'HEAD';
  const isGiven = site !== null || origin !== null;
  // `none`: the person has typed the address or opened a bookmark.
  const isSameSite = site === null || site === 'same-origin' || (isRead && site === 'none');
  if ((isGiven || isRead) && isSameSite && (origin === null || isOwn(origin, headers, publicUrl))) return;
  throw new GatewayError(
    'permission_denied',
    'This request does not come from the page of the console itself. If a proxy changes the host, set MODELPORT_PUBLIC_URL.',
  );
}

/** The scheme is not compared: a proxy may end TLS. */
function isOwn(origin: string, headers: Pick<Headers, 'get'>, publicUrl: string | undefined): boolean {
  const host = URL.parse(origin)?.host;
  if (host === undefined || host === '') return false;
  if (publicUrl !== undefined && origin === URL.parse(publicUrl)?.origin) return true;
  return host === hostOf(headers.get('host') ?? '', origin);
}

/** Without the port that the scheme has by default. */
const hostOf = (host: string, origin: string) =>
  URL.parse(`${origin.startsWith('https:') ? 'https' : 'http'}://${host}`)?.host;
