/** The console: signing in with a password, and one's own name, password and authenticator app. */
import { Type } from 'typebox';
import { auditRow } from '../../../access/audit.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { hashSecret } from '../../../people/secrets.ts';
import type { SignedIn } from '../../../people/sessions.ts';
import { signInFailed } from '../../../people/sign-in-failed.ts';
import { newRecoveryCodes, newTotpSecret, totpUri, useCode } from '../../../people/totp.ts';
import type { PersonChange, PersonRow } from '../../../store/people.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, route } from '../../route.ts';
import { EmailInput, NameInput } from '../admin/people-routes.ts';
import { peopleOf, showSelf, signIn } from './session-routes.ts';

const LEAST_PASSWORD = 12;
const Password = Type.String({ maxLength: 200, description: 'a password of up to 200 characters' });
export const NewPassword = Type.String({
  minLength: LEAST_PASSWORD,
  maxLength: 200,
  description: `a password of ${LEAST_PASSWORD} to 200 characters`,
});
const Code = Type.String({ minLength: 1, maxLength: 40, description: 'a code of the authenticator app' });
const closed = { additionalProperties: false } as const;
/** What shows that the person of the session is still there. */
export const PRESENCE = {
  current: Type.Optional(Password),
  confirmation: Type.Optional(Type.String({ maxLength: 64, description: 'a confirmation with a passkey, instead' })),
};

const signInRoute = route('POST', '/console/api/sign-in', {
  gate: 'page',
  summary: 'Signs in with a password, and a code where an authenticator app is set up.',
  body: Type.Object(
    {
      email: Type.String({ maxLength: 254, description: 'an e-mail address' }),
      password: Password,
      code: Type.Optional(Code),
    },
    closed,
  ),
  answer: async (deps, request) => {
    const { store, now } = deps;
    const { throttle, passwords } = peopleOf(deps);
    const { password, code } = request.body;
    const email = request.body.email.trim().toLowerCase();
    await throttle.attempt(email, request.address);
    const person = await store.people.personByEmail(email);
    // Verified in any case: the time must not reveal whether the person exists.
    const isRight = await passwords.fits(password, person?.passwordHash);
    if (!person || !isRight || person.disabledAt !== undefined) throw await failedSignIn(deps, person, request.address);
    if (person.totpStored !== undefined) {
      if (code === undefined) return { signedIn: false, needs: 'code' };
      if (!(await useCode(store.people, person, code, now()))) throw await failedSignIn(deps, person, request.address);
    }
    await throttle.succeeded(email, request.address);
    return signIn(deps, request, person, 'password');
  },
});

/**
 * Written for who does not exist too: the time must not tell. What was typed is not written, it may be a password. The throttle bounds how
 * many rows one address can cause.
 */
async function failedSignIn({ store, now }: HttpDeps, person: PersonRow | undefined, address: string) {
  const act = { actor: 'sign-in', action: 'person.sign-in-failed', subject: person?.id ?? 'unknown' };
  await store.recordAudit(auditRow({ ...act, after: { way: 'password', address } }, now()));
  return signInFailed();
}

const ownRoutes: readonly AnsweredRoute[] = [
  route('PATCH', '/console/api/profile', {
    gate: 'session',
    summary: "Changes one's own name, e-mail address or language.",
    body: Type.Object(
      {
        name: Type.Optional(NameInput),
        email: Type.Optional(EmailInput),
        language: Type.Optional(
          Type.Union([Type.Literal('en'), Type.Literal('zh'), Type.Null()], { description: 'en, zh or null' }),
        ),
      },
      closed,
    ),
    answer: async (deps, { body, signedIn }) => {
      const { name, email, language } = body;
      const change = {
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email: email.toLowerCase() }),
        ...(language !== undefined && { language }),
      };
      return showSelf(deps, await changeSelf(deps, signedIn(), 'person.changed', change));
    },
  }),
  route('PUT', '/console/api/password', {
    gate: 'session',
    summary: "Sets one's own password. All other sessions end.",
    body: Type.Object({ password: NewPassword, ...PRESENCE }, closed),
    answer: async (deps, { body, signedIn, address }) => {
      const me = signedIn();
      await requirePresence(deps, me, body, address);
      const passwordHash = await peopleOf(deps).passwords.hash(body.password);
      await changeSelf(deps, me, 'person.password-changed', { passwordHash });
      await deps.store.people.endSessions(me.person.id, me.session.id);
      return { changed: true };
    },
  }),
  route('DELETE', '/console/api/password', {
    gate: 'session',
    summary: "Removes one's own password; a passkey must be there.",
    body: Type.Object(PRESENCE, closed),
    answer: async (deps, { body, signedIn, address }) => {
      const me = signedIn();
      await requirePresence(deps, me, body, address);
      if ((await deps.store.people.passkeys(me.person.id)).length === 0)
        throw new GatewayError('conflict', 'Without a password you need a passkey: add one first.');
      await changeSelf(deps, me, 'person.password-removed', { passwordHash: null });
      return { removed: true };
    },
  }),
  route('POST', '/console/api/totp', {
    gate: 'session',
    summary: 'Makes the secret of an authenticator app. It counts once a code of it is confirmed.',
    answer: async (deps, { signedIn }) => {
      const { person } = signedIn();
      if (person.totpStored !== undefined)
        throw new GatewayError('conflict', 'An authenticator app is set up already: remove it first.');
      const secret = newTotpSecret();
      await deps.store.people.setTotp(person.id, secret);
      return { secret, uri: totpUri(secret, person.email ?? person.name) };
    },
  }),
  route('POST', '/console/api/totp/confirm', {
    gate: 'session',
    summary: 'Turns the authenticator app on with one of its codes. Returns the recovery codes, once.',
    body: Type.Object({ code: Code }, closed),
    answer: async (deps, { body, signedIn, address }) => {
      const me = signedIn();
      const { person } = me;
      if (person.totpStored !== undefined || person.totpPending === undefined)
        throw new GatewayError('conflict', 'No authenticator app waits to be confirmed.');
      const { throttle } = peopleOf(deps);
      await throttle.attempt(person.id, address);
      const pending = { ...person, totpStored: person.totpPending };
      if (!(await useCode(deps.store.people, pending, body.code, deps.now()))) throw signInFailed();
      await throttle.succeeded(person.id, address);
      const recoveryCodes = newRecoveryCodes();
      const change = { recoveryCodes: recoveryCodes.map(hashSecret) };
      await changeSelf(deps, me, 'person.totp-added', change);
      return { recoveryCodes };
    },
  }),
  route('DELETE', '/console/api/totp', {
    gate: 'session',
    summary: 'Removes the authenticator app, with one of its codes or a recovery code.',
    body: Type.Object({ code: Code }, closed),
    answer: async (deps, { body, signedIn, address }) => {
      const me = signedIn();
      const { throttle } = peopleOf(deps);
      await throttle.attempt(me.person.id, address);
      if (!(await useCode(deps.store.people, me.person, body.code, deps.now()))) throw signInFailed();
      await throttle.succeeded(me.person.id, address);
      await deps.store.people.setTotp(me.person.id, undefined);
      await changeSelf(deps, me, 'person.totp-removed', {});
      return { removed: true };
    },
  }),
];

export const PROFILE_ROUTES: readonly AnsweredRoute[] = [signInRoute, ...ownRoutes];

/** A sign-in has just proved who the person is. */
const FRESH_MS = 15 * 60_000;

/** Who finds an open browser must not be able to take it over. Throws `sign_in_failed`, `permission_denied`. */
export async function requirePresence(
  deps: HttpDeps,
  me: SignedIn,
  { current, confirmation }: { current?: string; confirmation?: string },
  address: string,
): Promise<void> {
  const { person, session } = me;
  const { throttle, passwords, passkeys } = peopleOf(deps);
  if (confirmation !== undefined) {
    if (await passkeys.useConfirmation(me, confirmation)) return;
    throw signInFailed();
  }
  const isFresh = session.at > deps.now() - FRESH_MS;
  if (person.passwordHash === undefined) return isFresh ? undefined : requireNothingElse(deps, person);
  if (isFresh && (session.way === 'link' || session.way === 'passkey')) return;
  await throttle.attempt(person.id, address);
  if (!(await passwords.fits(current ?? '', person.passwordHash))) throw signInFailed();
  await throttle.succeeded(person.id, address);
}

/** Without a password there is none to ask for. */
async function requireNothingElse({ store }: HttpDeps, { id, oidc }: PersonRow): Promise<void> {
  if (oidc === undefined && (await store.people.passkeys(id)).length === 0) return;
  throw new GatewayError(
    'permission_denied',
    'This needs a sign-in of the last 15 minutes: confirm it with a passkey, or sign out and sign in again.',
  );
}

async function changeSelf(
  { store, now }: HttpDeps,
  { person }: SignedIn,
  action: string,
  change: PersonChange,
): Promise<PersonRow> {
  const { id } = person;
  const audit = (before?: PersonRow, after?: PersonRow) =>
    auditRow({ actor: id, action, subject: id, before, after }, now());
  return (await store.people.updatePerson(id, change, audit)) ?? person;
}
