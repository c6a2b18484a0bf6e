/** What the claims of an OIDC provider say about a person: e-mail address, name and role. Pure functions. */
import type { Role } from '../access/permissions.ts';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Absent: a public client. */
  clientSecret?: string;
  /** How the secret is sent. */
  clientAuth: 'basic' | 'post';
  /** The address that the provider sends people back to, exactly as registered there. */
  redirectUri: string;
  /** The provider's name on the sign-in page. */
  name: string;
  scope: string;
  /** The claim that `roles` look at. */
  roleClaim: string;
  /** The first rule whose value is in the claim decides. Empty: roles are given in the console. */
  roles: readonly RoleRule[];
  /** Of people that no rule applies to. Absent: they are refused. */
  defaultRole?: Role;
  /** Domains of verified e-mail addresses that may sign in. Empty: all, and people without an address. */
  domains: readonly string[];
  /** Whether an unknown person is created at the first sign-in. */
  createsPeople: boolean;
}

/** A person with this value in the claim has this role. */
export interface RoleRule {
  value: string;
  role: Role;
}

/** The claims of a verified ID token, together with those of the userinfo endpoint. Their types are not checked. */
export type Claims = { readonly [claim: string]: unknown };

const LONGEST_EMAIL = 254;
const LONGEST_NAME = 200;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The address in lower case, if the provider has verified it. Some providers write the boolean as text. */
export function verifiedEmail({ email, email_verified: isVerified }: Claims): string | undefined {
  if (typeof email !== 'string' || (isVerified !== true && isVerified !== 'true')) return undefined;
  const written = email.trim().toLowerCase();
  return EMAIL.test(written) && written.length <= LONGEST_EMAIL ? written : undefined;
}

/** Whether the domain after the last `@` is in the list. Domains are in lower case; an empty list allows everybody. */
export function isInDomains(email: string | undefined, domains: readonly string[]): boolean {
  return domains.length === 0 || (email !== undefined && domains.includes(email.slice(email.lastIndexOf('@') + 1)));
}

/** The role that the person has from now on. `known`: the role so far. `undefined`: the person may not sign in. */
export function roleFromClaims(
  claims: Claims,
  { roleClaim, roles, defaultRole }: Pick<OidcSettings, 'roleClaim' | 'roles' | 'defaultRole'>,
  known: Role | undefined,
): Role | undefined {
  if (roles.length === 0) return known ?? defaultRole;
  const values = valuesOf(claimNamed(claims, roleClaim));
  return roles.find(({ value }) => values.includes(value))?.role ?? defaultRole;
}

/** Names of claims may contain dots; otherwise a dot leads into an object (`realm_access.roles`). */
export function claimNamed(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Claims)[part];
  }
  return found;
}

/** One value, or a list of them. */
const valuesOf = (claim: unknown): readonly unknown[] => (Array.isArray(claim) ? claim : [claim]);

/** A name for lists and the audit log: `name`, `preferred_username` or the e-mail address, without control characters. */
export function nameFromClaims(claims: Claims, email: string | undefined): string {
  for (const given of [claims.name, claims.preferred_username, email]) {
    if (typeof given !== 'string') continue;
    // Control characters could reorder or hide text in lists.
    const name = given.replace(/[\p{Cc}\p{Cf}]/gu, '').trim();
    if (name !== '') return name.slice(0, LONGEST_NAME);
  }
  return 'Person';
}
