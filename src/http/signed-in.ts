/** Authenticates people by the cookie of their session, on the console's own routes and on the admin API. */
import type { Caller } from '../access/access.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { SignedIn } from '../people/sessions.ts';
import type { HttpDeps } from './http-deps.ts';
import type { Documented } from './route.ts';
import { type CookieRequest, refuseOtherOrigin, sessionSecret } from './session-cookie.ts';

/** Whether clients see the gateway on TLS, by itself or by a proxy in front of it. */
export const isOnTls = ({ settings }: Pick<HttpDeps, 'settings'>): boolean =>
  settings.isSecure || (settings.publicUrl?.startsWith('https:') ?? false);

/**
 * A request with a key is not one of a browser's session. One of the console's own page is, also without a cookie: browsers drop it when the
 * session ends, and who fills in a form then must read that, not that a key is missing.
 */
export function hasSession(deps: HttpDeps, { headers }: CookieRequest): boolean {
  if (deps.people === undefined || headers.has('authorization')) return false;
  return headers.get('sec-fetch-site') === 'same-origin' || sessionSecret(headers, isOnTls(deps)) !== undefined;
}

/** Who is signed in. Throws `sign_in_required`, `permission_denied`. */
export async function personOf(
  deps: HttpDeps,
  request: CookieRequest,
  { permission }: Pick<Documented, 'permission'>,
): Promise<SignedIn> {
  refuseOtherOrigin(request, deps.settings.publicUrl);
  const secret = sessionSecret(request.headers, isOnTls(deps));
  const found = secret === undefined ? undefined : await deps.people?.sessions.find(secret);
  if (!found)
    throw new GatewayError('sign_in_required', 'Nobody is signed in, or the session has ended: sign in again.');
  if (permission !== undefined) requirePermission(found, permission);
  return found;
}

/** Throws `permission_denied`. */
function requirePermission(
  { permissions, role }: Pick<SignedIn, 'permissions' | 'role'>,
  permission: NonNullable<Documented['permission']>,
): void {
  if (permissions.has(permission)) return;
  throw new GatewayError(
    'permission_denied',
    `This needs the permission ${permission}, which the role ${role} does not have.`,
  );
}

/** The person in the place of an admin key: the actor of changes, and the account of what names none. */
export function callerOfPerson({ person, permissions }: SignedIn): Caller {
  const { id, name, createdAt } = person;
  const account = person.accounts[0] ?? '';
  const row = { id, account, kind: 'admin' as const, name, hash: '', last4: '', createdAt };
  return { key: id, account, kind: 'admin', row, permissions };
}
