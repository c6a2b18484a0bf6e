/** People who sign in to the console: sessions, and the ways to begin one. */
import { GatewayError } from '../canonical/errors.ts';
import type { PersonRow } from '../store/people.ts';
import type { Audit } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import { createLink, ensureOwner, INVITATION_MS, LINK_MS, type LoginLink, useLink } from './links.ts';
import { createOidc, type Oidc } from './oidc.ts';
import type { OidcSettings } from './oidc-claims.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPasswords, type PasswordAlgorithm, type Passwords } from './passwords.ts';
import {
  createRegistration,
  type Registration,
  type RegistrationDeps,
  type RegistrationSettings,
} from './registration.ts';
import { createSessions, type Sessions, type SessionTimes, type Way } from './sessions.ts';
import { signInFailed } from './sign-in-failed.ts';
import { createThrottle, type Throttle } from './throttle.ts';

/** Everything about people who sign in. */
export interface People {
  readonly sessions: Sessions;
  readonly ways: SignInWays;
  readonly passkeys: Passkeys;
  readonly passwords: Passwords;
  readonly throttle: Throttle;
  /** Absent: there is no OIDC provider. */
  readonly oidc?: Oidc;
  /** Absent: registration is off. */
  readonly registration?: Registration;
  /** The person of a link, which is used up. Throws `sign_in_failed`. */
  openLink(token: string): Promise<{ person: PersonRow; way: Way }>;
  /** A link for a person, or for the first owner. `actor`: the admin key, or the person who requests it. */
  createLink(person: string | undefined, actor: string): Promise<LoginLink>;
  /** A new person, and the link by which it signs in for the first time. */
  invite(person: PersonRow, audit: Audit<PersonRow>): Promise<LoginLink>;
}

/** The ways to sign in besides links and passkeys, which depend on the browser. */
export interface SignInWays {
  password: boolean;
  /** The name of the OIDC provider. Absent: there is none. */
  oidc?: { name: string };
}

/** Sends mail, and reports failures to the operator. */
export type MailDeps = Pick<RegistrationDeps, 'sendMail' | 'reportError'>;

/** What the module needs. `now` returns milliseconds since 1970. */
export interface PeopleDeps {
  store: Store;
  times: SessionTimes;
  /** Of new passwords. */
  passwords?: PasswordAlgorithm;
  /** Absent: there is no OIDC provider. */
  oidc?: OidcSettings | undefined;
  guard: Pick<GuardedFetch, 'send'>;
  /** Absent: registration is off. */
  registration?: RegistrationSettings | undefined;
  mail: MailDeps;
  now(): number;
}

export function createPeople(deps: PeopleDeps): People {
  const { store, times, guard, mail, now } = deps;
  const { people } = store;
  const passwords = createPasswords(deps.passwords);
  const oidc = deps.oidc && createOidc(deps.oidc, { store, guard, now });
  const registration = deps.registration && createRegistration(deps.registration, { store, passwords, ...mail, now });
  return {
    sessions: createSessions(people, times, now),
    ways: { password: true, ...(oidc && { oidc: { name: oidc.name } }) },
    ...(oidc && { oidc }),
    ...(registration && { registration }),
    passkeys: createPasskeys(people, now),
    passwords,
    throttle: createThrottle(people, now),
    async openLink(token) {
      const used = await useLink(people, token, now());
      if (!used) throw signInFailed();
      return used;
    },
    async createLink(id, actor) {
      const person = id === undefined ? await ensureOwner(store, actor, now()) : await people.person(id);
      if (!person) throw new GatewayError('not_found', `There is no person with the id "${id}".`, { param: 'id' });
      return createLink(people, person, now(), LINK_MS);
    },
    async invite(person, audit) {
      await people.createPerson(person, audit);
      return createLink(people, person, now(), INVITATION_MS, 'invitation');
    },
  };
}
