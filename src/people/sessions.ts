/** Sessions of people: they begin at a sign-in, end when unused or after a fixed time, and can be ended at once. */
import { PERMISSIONS_OF, type Permission, ROLES, type Role } from '../access/permissions.ts';
import { newTimedId } from '../canonical/id.ts';
import type { PeopleStore, PersonRow, SessionRow } from '../store/people.ts';
import { hashSecret, newSecret } from './secrets.ts';

/** Who makes a request. `idleEndsAt` is milliseconds since 1970. */
export interface SignedIn {
  session: SessionRow;
  person: PersonRow;
  role: Role;
  permissions: ReadonlySet<Permission>;
  /** When the session ends if it is not used. */
  idleEndsAt: number;
}

/** Where a sign-in comes from. */
export interface Origin {
  address: string;
  agent: string;
}

/** How a session was opened. Shown in the list of sessions. */
export type Way = 'link' | 'password' | 'passkey' | 'oidc' | 'invitation' | 'registration';

/** Times are milliseconds since 1970. */
export interface Sessions {
  /** Every sign-in opens a session with a new secret, so that one that was planted before is useless. */
  begin(person: Pick<PersonRow, 'id'>, way: Way, from: Origin): Promise<{ secret: string; session: SessionRow }>;
  /** The session of this secret, unless it or its person has ended. Read from the database each time: an ended session ends everywhere at once. */
  find(secret: string): Promise<SignedIn | undefined>;
  /** What the session may do now; `undefined` if it has ended. Asking does not count as use. */
  permissionsNow(session: Pick<SessionRow, 'hash'>): Promise<ReadonlySet<Permission> | undefined>;
}

/** `MODELPORT_SESSION_IDLE_HOURS` and `MODELPORT_SESSION_DAYS` in milliseconds. */
export interface SessionTimes {
  /** An unused session ends after this time. */
  idleMs: number;
  /** Every session ends after this time. */
  longestMs: number;
}

/** Each use is written at most once in this time. */
const SEEN_MS = 60_000;
const LONGEST_SECRET = 64;
const LONGEST_AGENT = 200;

export function createSessions(people: PeopleStore, { idleMs, longestMs }: SessionTimes, now: () => number): Sessions {
  async function alive(hash: string, at: number) {
    const found = await people.session(hash, at);
    const role = found && roleOf(found.person);
    if (!found || found.person.disabledAt !== undefined || role === undefined) return undefined;
    return found.session.seenAt + idleMs <= at ? undefined : { ...found, role };
  }

  return {
    async begin({ id: person }, way, { address, agent }) {
      const at = now();
      const { text, hash } = newSecret();
      const times = { at, seenAt: at, endsAt: at + longestMs };
      const from = { address, agent: agent.slice(0, LONGEST_AGENT) };
      const session = { id: newTimedId('session_', at), hash, person, way, ...times, ...from };
      await people.createSession(session);
      return { secret: text, session };
    },
    async find(secret) {
      if (secret.length > LONGEST_SECRET) return undefined;
      const at = now();
      const found = await alive(hashSecret(secret), at);
      if (!found) return undefined;
      const { session, person, role } = found;
      if (session.seenAt + Math.min(SEEN_MS, idleMs / 2) <= at) {
        await people.seeSession(session.id, at);
        session.seenAt = at;
      }
      const idleEndsAt = Math.min(session.seenAt + idleMs, session.endsAt);
      return { session, person, role, permissions: PERMISSIONS_OF[role], idleEndsAt };
    },
    async permissionsNow({ hash }) {
      const found = await alive(hash, now());
      return found && PERMISSIONS_OF[found.role];
    },
  };
}

/** `undefined`: a role that a newer program has written. */
export const roleOf = ({ role }: Pick<PersonRow, 'role'>): Role | undefined => ROLES.find((known) => known === role);
