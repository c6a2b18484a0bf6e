/** Links that sign a person in once, and the first owner. */
import { auditRow } from '../access/audit.ts';
import { newTimedId } from '../canonical/id.ts';
import type { PeopleStore, PersonRow } from '../store/people.ts';
import type { Store } from '../store/store.ts';
import { hashSecret, newSecret } from './secrets.ts';

/** `expiresAt` is milliseconds since 1970. */
export interface LoginLink {
  person: string;
  /** The path with the secret in its fragment, which browsers do not send: it never reaches a log. */
  path: string;
  expiresAt: number;
}

const KIND = 'link';

/** A new link for the person. Earlier ones stay valid until they end. */
export async function createLink(
  people: PeopleStore,
  person: Pick<PersonRow, 'id'>,
  now: number,
  validMs: number,
  way: 'link' | 'invitation' = 'link',
): Promise<LoginLink> {
  const { text, hash } = newSecret();
  const expiresAt = now + validMs;
  const id = newTimedId('link_', now);
  await people.putToken({ id, kind: KIND, hash, person: person.id, body: way, createdAt: now, expiresAt });
  return { person: person.id, path: `/console/#link=${text}`, expiresAt };
}

/** The person whose link this is; the link is used up. */
export async function useLink(
  people: PeopleStore,
  token: string,
  now: number,
): Promise<{ person: PersonRow; way: 'link' | 'invitation' } | undefined> {
  const link = await people.takeToken(KIND, hashSecret(token), now);
  const person = link?.person === undefined ? undefined : await people.person(link.person);
  if (!person || person.disabledAt !== undefined) return undefined;
  return { person, way: link?.body === 'invitation' ? 'invitation' : 'link' };
}

/** The first owner, created if there is none, with the first account as its own. */
export async function ensureOwner(
  store: Pick<Store, 'people' | 'accounts'>,
  actor: string,
  now: number,
): Promise<PersonRow> {
  const known = await store.people.firstOwner();
  if (known) return known;
  const accounts = (await store.accounts({ limit: 1 })).map(({ id }) => id);
  const owner: PersonRow = { id: newTimedId('person_', now), name: 'Owner', role: 'owner', accounts, createdAt: now };
  const audit = () => auditRow({ actor, action: 'person.created', subject: owner.id, after: owner }, now);
  await store.people.createPerson(owner, audit);
  return owner;
}

/** The link of a first start is read later by the person who installs; a requested one is used at once. */
export const FIRST_LINK_MS = 24 * 3_600_000;
export const LINK_MS = 15 * 60_000;
export const INVITATION_MS = 7 * 86_400_000;
