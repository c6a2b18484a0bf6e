/** Signing in by OpenID Connect: which person an identity of the provider is, and what role that person has from now on. */
import { auditRow } from '../access/audit.ts';
import type { Role } from '../access/permissions.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newTimedId } from '../canonical/id.ts';
import type { PersonRow } from '../store/people.ts';
import type { Store } from '../store/store.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import { isInDomains, nameFromClaims, type OidcSettings, roleFromClaims, verifiedEmail } from './oidc-claims.ts';
import {
  createOidcProvider,
  type Identity,
  OidcFailure,
  type OidcProblem,
  type SignInAttempt,
} from './oidc-provider.ts';
import { roleOf } from './sessions.ts';

/** Why a sign-in failed: the value of `#error=` on the sign-in page. */
export type OidcError = OidcProblem | 'not_allowed' | 'email_taken' | 'last_owner';

export type OidcOutcome =
  | { person: PersonRow }
  /** `about`: who it was, if known. */
  | { error: OidcError; about?: string; cause?: unknown };

/** The sign-in with the company's OpenID Connect provider, in two steps: `start` returns the provider's URL, `finish` reads the redirect back. */
export interface Oidc {
  readonly name: string;
  start(): Promise<{ url: string; attempt: SignInAttempt } | { error: OidcError; cause: unknown }>;
  finish(query: URLSearchParams, attempt: SignInAttempt): Promise<OidcOutcome>;
}

/** `guard` sends all requests to the provider. */
export interface OidcDeps {
  store: Pick<Store, 'people'>;
  guard: Pick<GuardedFetch, 'send'>;
  now(): number;
}

const ACTOR = 'oidc';

export function createOidc(settings: OidcSettings, deps: OidcDeps): Oidc {
  const provider = createOidcProvider(settings, deps);
  const asError = (thrown: unknown) => {
    if (thrown instanceof OidcFailure) return { error: thrown.problem, cause: thrown };
    throw thrown;
  };
  return {
    name: settings.name,
    start: () => provider.start().catch(asError),
    async finish(query, attempt) {
      const identity = await provider.finish(query, attempt).catch(asError);
      return 'error' in identity ? identity : personOf(settings, deps, identity);
    },
  };
}

/** The person with this identity; the role is what the claims say now. */
async function personOf(settings: OidcSettings, deps: OidcDeps, identity: Identity): Promise<OidcOutcome> {
  const { people } = deps.store;
  const email = verifiedEmail(identity.claims);
  const known = await people.personByOidc(identity.issuer, identity.subject);
  const isAllowed = isInDomains(email, settings.domains) && known?.disabledAt === undefined;
  if (isAllowed && !known) return newcomer(settings, deps, identity, email);
  const role = isAllowed && known ? roleFromClaims(identity.claims, settings, roleOf(known)) : undefined;
  if (known && role) return withChange(deps, known, { role });
  // Whoever is refused now has no open session either.
  if (known) await people.endSessions(known.id);
  return { error: 'not_allowed', ...(known && { about: known.id }) };
}

/** An unknown identity: of an invited person without a sign-in, or of a new one. */
async function newcomer(
  settings: OidcSettings,
  deps: OidcDeps,
  { issuer, subject, claims }: Identity,
  email: string | undefined,
): Promise<OidcOutcome> {
  const { people } = deps.store;
  const oidc = { issuer, subject };
  const sameEmail = email === undefined ? undefined : await people.personByEmail(email);
  if (sameEmail) {
    const about = sameEmail.id;
    const role = roleFromClaims(claims, settings, roleOf(sameEmail));
    if (!role || sameEmail.disabledAt !== undefined) return { error: 'not_allowed', about };
    // People write their own address into their profile without a check: it may be the address of another person.
    if (!(await isUnused(deps, sameEmail))) return { error: 'email_taken', about };
    return withChange(deps, sameEmail, { role, oidc });
  }
  const role = roleFromClaims(claims, settings, undefined);
  if (!settings.createsPeople || !role) return { error: 'not_allowed' };
  const at = deps.now();
  const name = nameFromClaims(claims, email);
  const person: PersonRow = {
    ...{ id: newTimedId('person_', at), name, role, accounts: [], createdAt: at, oidc },
    ...(email !== undefined && { email }),
  };
  try {
    const act = { actor: ACTOR, action: 'person.created', subject: person.id };
    await people.createPerson(person, () => auditRow({ ...act, after: person }, at));
    return { person };
  } catch (thrown) {
    // The same person has signed in twice at the same time.
    const other = await people.personByOidc(issuer, subject);
    if (other && other.disabledAt === undefined) return { person: other };
    throw thrown;
  }
}

/** Invited with this address by an operator, and never signed in: only the operator can have set it. */
async function isUnused({ store }: OidcDeps, person: PersonRow): Promise<boolean> {
  const { seenAt, passwordHash, oidc, id } = person;
  const isFresh = seenAt === undefined && passwordHash === undefined && oidc === undefined;
  return isFresh && (await store.people.passkeys(id)).length === 0;
}

async function withChange(
  { store, now }: OidcDeps,
  person: PersonRow,
  change: { role: Role; oidc?: PersonRow['oidc'] },
): Promise<OidcOutcome> {
  const { role, oidc } = change;
  if (role === person.role && !oidc) return { person };
  const act = { actor: ACTOR, action: 'person.changed', subject: person.id };
  try {
    const changed = await store.people.updatePerson(person.id, { role, ...(oidc && { oidc }) }, (before, after) =>
      auditRow({ ...act, before, after }, now()),
    );
    return changed ? { person: changed } : { error: 'not_allowed' };
  } catch (thrown) {
    // One owner must remain: the role stays, and the sign-in is refused.
    if (thrown instanceof GatewayError && thrown.code === 'conflict') return { error: 'last_owner', about: person.id };
    throw thrown;
  }
}
