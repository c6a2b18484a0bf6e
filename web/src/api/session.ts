/** Who is signed in, and what this person may do. */
import { useQuery } from '@tanstack/react-query';
import { ask } from './client.ts';

export type Permission =
  | `${'overview' | 'calls' | 'payloads' | 'usage' | 'audit'}:read`
  | `${'supply' | 'accounts' | 'keys' | 'money' | 'people' | 'alerts' | 'settings' | 'own'}:${'read' | 'write'}`
  | 'prices:write'
  | 'admin-keys:write'
  | 'playground';

export interface Ways {
  password: boolean;
  passkeys: boolean;
  /** Absent: there is no company sign-in. */
  oidc?: { name: string };
  /** Whether people may register themselves, and what their account has then. */
  registration?: boolean;
  registrationCredit?: string | null;
}

export interface Person {
  id: string;
  name: string;
  email: string | null;
  role: 'owner' | 'operator' | 'finance' | 'support' | 'member';
  language: 'en' | 'zh' | null;
  hasPassword: boolean;
  hasTotp: boolean;
  passkeys: number;
  needsSetup: boolean;
}

export interface Named {
  id: string;
  name: string;
}

export interface SignedIn {
  person: Person;
  permissions: Permission[];
  accounts: Named[];
  account: Named | null;
  session: { id: string; way: string; at: string; endsAt: string; idleEndsAt: string };
  ways: Ways;
  version: string;
  publicUrl: string | null;
}

export type Session = SignedIn | { person: null; ways: Ways };

export const SESSION = ['session'] as const;

export async function fetchSession(): Promise<Session> {
  const session = await ask<Session>('/console/api/session');
  // Old browsers have no passkeys, and no browser has them without TLS.
  const passkeys = session.ways.passkeys && 'PublicKeyCredential' in globalThis;
  return { ...session, ways: { ...session.ways, passkeys } };
}

let last: SignedIn | undefined;

/**
 * Below the sign-in gate there is always a person: after a sign-out the one who was there, because a page may be drawn once more before the
 * gate takes it away.
 */
export function personBelowGate(session: Session | undefined): SignedIn {
  if (session?.person) last = session;
  if (!last) throw new Error('useSession is used below the sign-in gate alone');
  return last;
}

export function useSession(): SignedIn {
  return personBelowGate(useQuery({ queryKey: SESSION, queryFn: fetchSession, staleTime: 60_000 }).data);
}

export function useMay(): (permission: Permission) => boolean {
  const { permissions } = useSession();
  return (permission) => permissions.includes(permission);
}

export const isMember = ({ permissions }: SignedIn): boolean => !permissions.includes('overview:read');

/** Keys of all accounts for operators, of the own account for members. */
export const mayMakeKeys = (me: SignedIn): boolean => me.permissions.includes('keys:write') || isMember(me);

/** Calls of the playground are charged to an account: one's own, or any where one may make keys. */
export const maySpend = ({ permissions, accounts }: Pick<SignedIn, 'permissions' | 'accounts'>): boolean =>
  permissions.includes('playground') && (permissions.includes('keys:write') || accounts.length > 0);

/** The address that clients of this gateway use. */
export const baseUrlOf = ({ publicUrl }: SignedIn): string => (publicUrl ?? location.origin).replace(/\/$/, '');
