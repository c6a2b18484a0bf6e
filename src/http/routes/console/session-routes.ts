/** The console: who is signed in, signing in by a link, signing out, and one's own sessions. */
import { Type } from 'typebox';
import { auditRow } from '../../../access/audit.ts';
import { PERMISSIONS, type Permission } from '../../../access/permissions.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { writeMoney } from '../../../canonical/money.ts';
import { canUsePasskeys } from '../../../people/relying-party.ts';
import type { SignedIn, Way } from '../../../people/sessions.ts';
import type { PersonRow } from '../../../store/people.ts';
import { writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { sessionSecret, writeCookie } from '../../session-cookie.ts';
import { isOnTls } from '../../signed-in.ts';

const Token = Type.String({ minLength: 1, maxLength: 200, description: 'the token of a link' });
const LinkUsed = Type.Object({ token: Token }, { additionalProperties: false });

export const SESSION_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/console/api/session', {
    gate: 'open',
    summary: 'Shows who is signed in, and the ways to sign in.',
    answer: async (deps, { headers }) => {
      const { sessions } = peopleOf(deps);
      const secret = sessionSecret(headers, isOnTls(deps));
      const found = secret === undefined ? undefined : await sessions.find(secret);
      const shown = found ? await showSession(deps, found) : { person: null };
      const passkeys = canUsePasskeys(headers, isOnTls(deps), deps.settings.publicUrl);
      const ways = await shownWays(deps, found !== undefined);
      return uncached({ ...shown, ways: { ...ways, passkeys } });
    },
  }),
  route('POST', '/console/api/sign-in/link', {
    gate: 'page',
    summary: 'Signs in by a link, which is used up.',
    body: LinkUsed,
    answer: async (deps, request) => {
      const { person, way } = await peopleOf(deps).openLink(request.body.token);
      return signIn(deps, request, person, way);
    },
  }),
  route('POST', '/console/api/sign-out', {
    gate: 'session',
    summary: 'Ends the session.',
    answer: async (deps, { signedIn, headers }) => {
      const { session, person } = signedIn();
      await deps.store.people.endSession(person.id, session.id);
      return withCookie({ signedIn: false }, writeCookie('', 0, headers, isOnTls(deps)));
    },
  }),
  route('GET', '/console/api/sessions', {
    gate: 'session',
    summary: "Lists one's own sessions, last used first.",
    answer: async (deps, { signedIn }) => {
      const { session: own, person } = signedIn();
      const sessions = await deps.store.people.sessions(person.id, deps.now());
      const data = sessions.map(({ id, way, at, seenAt, endsAt, address, agent }) => ({
        ...{ id, way, at: writeTime(at), seenAt: writeTime(seenAt), endsAt: writeTime(endsAt) },
        ...{ address, agent, current: id === own.id },
      }));
      return { data, hasMore: false, next: null };
    },
  }),
  route('DELETE', '/console/api/sessions', {
    gate: 'session',
    summary: "Ends all of one's sessions but this one.",
    answer: async (deps, { signedIn }) => {
      const { session, person } = signedIn();
      return { removed: await deps.store.people.endSessions(person.id, session.id) };
    },
  }),
  route('DELETE', '/console/api/sessions/:id', {
    gate: 'session',
    summary: "Ends one of one's sessions.",
    answer: async (deps, { signedIn, path: { id = '' } }) => {
      if (await deps.store.people.endSession(signedIn().person.id, id)) return { id, removed: true };
      throw new GatewayError('not_found', `There is no session with the id "${id}".`, { param: 'id' });
    },
  }),
];

/** Who is signed in does not register. */
async function shownWays(deps: HttpDeps, isSignedIn: boolean): Promise<object> {
  const { ways, registration } = peopleOf(deps);
  const isOpen = !isSignedIn && registration !== undefined && (await registration.isOpen());
  const credit = isOpen && registration.credit > 0n ? writeMoney(registration.credit) : null;
  return { ...ways, registration: isOpen, registrationCredit: credit };
}

export function peopleOf({ people }: HttpDeps): NonNullable<HttpDeps['people']> {
  if (people) return people;
  throw new GatewayError('not_found', 'The console is off (MODELPORT_CONSOLE).');
}

/** Begins a new session and answers with its cookie. */
export async function signIn(...given: Parameters<typeof beginSession>): Promise<Response> {
  return withCookie({ signedIn: true }, await beginSession(...given));
}

/** Begins a new session and returns its cookie. The session that the request came with ends. */
export async function beginSession(
  deps: HttpDeps,
  { headers, address }: Pick<RouteRequest, 'headers' | 'address'>,
  person: PersonRow,
  way: Way,
): Promise<string> {
  const { sessions } = peopleOf(deps);
  const isSecure = isOnTls(deps);
  const old = sessionSecret(headers, isSecure);
  const before = old === undefined ? undefined : await sessions.find(old);
  if (before) await deps.store.people.endSession(before.person.id, before.session.id);
  const agent = headers.get('user-agent') ?? '';
  const act = { actor: person.id, action: 'person.signed-in', subject: person.id, after: { way, address } };
  await deps.store.recordAudit(auditRow(act, deps.now()));
  const { secret, session } = await sessions.begin(person, way, { address, agent });
  return writeCookie(secret, session.endsAt - session.at, headers, isSecure);
}

const withCookie = (body: object, cookie: string): Response =>
  Response.json(body, { headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } });

const uncached = (body: object): Response => Response.json(body, { headers: { 'cache-control': 'no-store' } });

async function showSession(deps: HttpDeps, { person, session, permissions, idleEndsAt }: SignedIn): Promise<object> {
  const { settings } = deps;
  const accounts = await accountsOf(deps, person);
  const { id, way, at, endsAt } = session;
  return {
    person: await showSelf(deps, person),
    permissions: PERMISSIONS.filter((permission: Permission) => permissions.has(permission)),
    accounts,
    account: accounts[0] ?? null,
    session: { id, way, at: writeTime(at), endsAt: writeTime(endsAt), idleEndsAt: writeTime(idleEndsAt) },
    version: settings.version,
    publicUrl: settings.publicUrl ?? null,
  };
}

export async function showSelf({ store }: Pick<HttpDeps, 'store'>, person: PersonRow): Promise<object> {
  const passkeys = (await store.people.passkeys(person.id)).length;
  const hasPassword = person.passwordHash !== undefined;
  return {
    id: person.id,
    name: person.name,
    email: person.email ?? null,
    role: person.role,
    language: person.language ?? null,
    ...{ hasPassword, hasTotp: person.totpStored !== undefined, passkeys },
    needsSetup: !hasPassword && passkeys === 0 && person.oidc === undefined,
  };
}

async function accountsOf({ store }: HttpDeps, { accounts }: PersonRow): Promise<{ id: string; name: string }[]> {
  const rows = await Promise.all(accounts.map((id) => store.account(id)));
  return rows.flatMap((row) => (row ? [{ id: row.id, name: row.name }] : []));
}
