/** What people may do: permissions, and the roles that are sets of them. Every route of the admin API names the permission that it needs. */

export const PERMISSIONS = [
  /** Sums and figures of the whole installation. */
  'overview:read',
  /** Calls of all accounts with their receipts, and video tasks. */
  'calls:read',
  /** Captured requests and replies. */
  'payloads:read',
  'usage:read',
  /** Providers, models, prices, routing and health. */
  'supply:read',
  'supply:write',
  'prices:write',
  'accounts:read',
  'accounts:write',
  'keys:read',
  /** Caller keys: creating, changing, removing. */
  'keys:write',
  /** Admin keys, which may do everything. */
  'admin-keys:write',
  /** The ledger and redemption codes. */
  'money:read',
  'money:write',
  'people:read',
  'people:write',
  'audit:read',
  'alerts:read',
  'alerts:write',
  'settings:read',
  'settings:write',
  /** One's own account: balance, usage, calls. */
  'own:read',
  /** One's own account: keys and codes. */
  'own:write',
  /** Calls from the console, charged to one's own account or to one that one may read. */
  'playground',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const ROLES = ['owner', 'operator', 'finance', 'support', 'member'] as const;
export type Role = (typeof ROLES)[number];

const OWN: readonly Permission[] = ['own:read', 'own:write', 'playground'];

/** What operators, finance and support may see alike: prompts, people, settings and the audit log are not in it. */
const SEEN_BY_STAFF: readonly Permission[] = [
  'overview:read',
  'calls:read',
  'usage:read',
  'supply:read',
  'accounts:read',
  'keys:read',
  'money:read',
  'alerts:read',
];

export const PERMISSIONS_OF: { readonly [role in Role]: ReadonlySet<Permission> } = {
  owner: new Set(PERMISSIONS),
  operator: new Set<Permission>([
    ...OWN,
    ...SEEN_BY_STAFF,
    'payloads:read',
    'supply:write',
    'prices:write',
    'accounts:write',
    'keys:write',
    'audit:read',
    'alerts:write',
    'settings:read',
  ]),
  finance: new Set<Permission>([
    ...OWN,
    ...SEEN_BY_STAFF,
    'prices:write',
    'accounts:write',
    'money:write',
    'audit:read',
  ]),
  support: new Set<Permission>([...OWN, ...SEEN_BY_STAFF]),
  member: new Set(OWN),
};
