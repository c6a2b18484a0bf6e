/** The console: signing in with a passkey, one's own passkeys, and confirming an act with one. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { Type } from 'typebox';
import { auditRow } from '../../../access/audit.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { relyingPartyOf } from '../../../people/relying-party.ts';
import type { PasskeyRow, PersonRow } from '../../../store/people.ts';
import { writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { NameInput } from '../admin/people-routes.ts';
import { PRESENCE, requirePresence } from './profile-routes.ts';
import { peopleOf, signIn } from './session-routes.ts';

const closed = { additionalProperties: false } as const;
/** In base64url. */
const text = (description: string, maxLength = 8192) => Type.String({ maxLength, description });
const Ceremony = Type.String({ minLength: 1, maxLength: 64, description: 'the ceremony that the options came with' });
/** Browsers add members, which are left alone. */
const answerOf = <Parts extends Parameters<typeof Type.Object>[0]>(parts: Parts) =>
  Type.Object(
    {
      id: text('the credential'),
      rawId: text('the credential'),
      type: Type.Literal('public-key', { description: 'public-key' }),
      response: Type.Object({ clientDataJSON: text('what the browser has signed'), ...parts }),
    },
    { description: "the browser's answer" },
  );
const Transport = Type.String({ maxLength: 32, description: 'a transport' });
const Added = answerOf({
  // With the certificates of its maker, which are not read.
  attestationObject: text('the new credential', 65_536),
  transports: Type.Optional(Type.Array(Transport, { maxItems: 10, description: 'ways to reach the authenticator' })),
});
const Asserted = answerOf({
  authenticatorData: text('what the authenticator has signed'),
  signature: text('its signature'),
  userHandle: Type.Optional(Type.Union([text('the person'), Type.Null()], { description: 'the person' })),
});
const Used = Type.Object({ ceremony: Ceremony, response: Asserted }, closed);

/** Passkeys identify no person before they are verified: attempts are counted by address alone. */
const attemptFrom = (address: string) => `passkey ${address}`;
/** Each ceremony is a row: those of a person are bounded as well. */
const attemptOf = ({ id }: PersonRow) => `passkey ${id}`;

const partyOf = ({ settings }: HttpDeps, { headers }: Pick<RouteRequest, 'headers'>) =>
  relyingPartyOf(headers, settings.publicUrl);

const signInRoutes: readonly AnsweredRoute[] = [
  route('POST', '/console/api/sign-in/passkey/options', {
    gate: 'page',
    summary: 'Begins a sign-in with a passkey. It ends after five minutes.',
    body: Type.Object({}, closed),
    answer: async (deps, request) => {
      const at = partyOf(deps, request);
      const { throttle, passkeys } = peopleOf(deps);
      await throttle.attempt(attemptFrom(request.address), request.address);
      return passkeys.startSignIn(at);
    },
  }),
  route('POST', '/console/api/sign-in/passkey', {
    gate: 'page',
    summary: "Signs in with a passkey, which stands for a password and an authenticator app's code.",
    body: Used,
    answer: async (deps, request) => {
      const { throttle, passkeys } = peopleOf(deps);
      const { ceremony, response } = request.body;
      // Safe: the members that are read were checked; the library checks what they contain.
      const answer = { ceremony, response: response as AuthenticationResponseJSON };
      const { person } = await passkeys.signIn(answer, (known) => auditFailure(deps, known, request.address));
      await throttle.succeeded(attemptFrom(request.address), request.address);
      return signIn(deps, request, person, 'passkey');
    },
  }),
];

const ownRoutes: readonly AnsweredRoute[] = [
  route('GET', '/console/api/passkeys', {
    gate: 'session',
    summary: "Lists one's own passkeys, oldest first.",
    answer: async ({ store }, { signedIn }) => {
      const passkeys = await store.people.passkeys(signedIn().person.id);
      return { data: passkeys.map(showPasskey), hasMore: false, next: null };
    },
  }),
  route('POST', '/console/api/passkeys/options', {
    gate: 'session',
    summary:
      'Begins to add a passkey. Needs the current password or a confirmation, unless a link or a passkey has just signed in.',
    body: Type.Object(PRESENCE, closed),
    answer: async (deps, request) => {
      const at = partyOf(deps, request);
      const me = request.signedIn();
      await requirePresence(deps, me, request.body, request.address);
      const { throttle, passkeys } = peopleOf(deps);
      await throttle.attempt(attemptOf(me.person), request.address);
      return passkeys.startAdding(me, at);
    },
  }),
  route('POST', '/console/api/passkeys', {
    gate: 'session',
    summary: 'Adds a passkey.',
    body: Type.Object({ ceremony: Ceremony, response: Added, name: NameInput }, closed),
    answer: async (deps, { body, signedIn, address }) => {
      const me = signedIn();
      const { throttle, passkeys } = peopleOf(deps);
      // Safe: as above.
      const response = body.response as unknown as RegistrationResponseJSON;
      const passkey = await passkeys.add(me, { ceremony: body.ceremony, response, name: body.name });
      await throttle.succeeded(attemptOf(me.person), address);
      await auditPasskey(deps, 'person.passkey-added', passkey);
      return showPasskey(passkey);
    },
  }),
  route('PATCH', '/console/api/passkeys/:id', {
    gate: 'session',
    summary: "Changes the name of one of one's passkeys.",
    body: Type.Object({ name: NameInput }, closed),
    answer: async (deps, { body, signedIn, path: { id = '' } }) => {
      const passkey = await deps.store.people.renamePasskey(signedIn().person.id, id, body.name);
      if (!passkey) throw unknownPasskey(id);
      await auditPasskey(deps, 'person.passkey-renamed', passkey);
      return showPasskey(passkey);
    },
  }),
  route('DELETE', '/console/api/passkeys/:id', {
    gate: 'session',
    summary:
      "Removes one of one's passkeys and ends all other sessions. The last one stays where there is no password.",
    answer: async (deps, { signedIn, path: { id = '' } }) => {
      const { person, session } = signedIn();
      const { people } = deps.store;
      const known = await people.passkeys(person.id);
      const passkey = known.find((one) => one.id === id);
      if (!passkey) throw unknownPasskey(id);
      if (known.length === 1 && person.passwordHash === undefined && person.oidc === undefined)
        throw new GatewayError('conflict', 'Without a passkey you need a password: set one first.');
      if (!(await people.removePasskey(person.id, id))) throw unknownPasskey(id);
      // Who has the lost device may have signed in with it.
      await people.endSessions(person.id, session.id);
      await auditPasskey(deps, 'person.passkey-removed', passkey);
      return { id, removed: true };
    },
  }),
];

const confirmRoutes: readonly AnsweredRoute[] = [
  route('POST', '/console/api/passkeys/confirm/options', {
    gate: 'session',
    summary: 'Begins to confirm with a passkey that the person of the session is there.',
    body: Type.Object({}, closed),
    answer: async (deps, request) => {
      const at = partyOf(deps, request);
      const me = request.signedIn();
      const { throttle, passkeys } = peopleOf(deps);
      await throttle.attempt(attemptOf(me.person), request.address);
      return passkeys.startConfirming(me, at);
    },
  }),
  route('POST', '/console/api/passkeys/confirm', {
    gate: 'session',
    summary:
      "Confirms with one of one's passkeys. The confirmation counts once, for this session and for five minutes.",
    body: Used,
    answer: async (deps, { body, signedIn, address }) => {
      const me = signedIn();
      const { throttle, passkeys } = peopleOf(deps);
      // Safe: as above.
      const answer = { ceremony: body.ceremony, response: body.response as AuthenticationResponseJSON };
      const { passkey, confirmation, expiresAt } = await passkeys.confirm(me, answer);
      await throttle.succeeded(attemptOf(me.person), address);
      await auditPasskey(deps, 'person.passkey-confirmed', passkey);
      return { confirmation, expiresAt: writeTime(expiresAt) };
    },
  }),
];

export const PASSKEY_ROUTES: readonly AnsweredRoute[] = [...signInRoutes, ...ownRoutes, ...confirmRoutes];

const showPasskey = ({ id, name, host, isSynced, createdAt, usedAt }: PasskeyRow) => ({
  ...{ id, name, host, isSynced, createdAt: writeTime(createdAt) },
  usedAt: usedAt === undefined ? null : writeTime(usedAt),
});

const unknownPasskey = (id: string) =>
  new GatewayError('not_found', `There is no passkey with the id "${id}".`, { param: 'id' });

async function auditPasskey({ store, now }: HttpDeps, action: string, { person, id, name }: PasskeyRow): Promise<void> {
  await store.recordAudit(auditRow({ actor: person, action, subject: person, after: { passkey: id, name } }, now()));
}

/** At most one for each ceremony, whose number the throttle bounds. */
async function auditFailure({ store, now }: HttpDeps, person: PersonRow | undefined, address: string): Promise<void> {
  const act = { actor: 'sign-in', action: 'person.sign-in-failed', subject: person?.id ?? 'unknown' };
  await store.recordAudit(auditRow({ ...act, after: { way: 'passkey', address } }, now()));
}
