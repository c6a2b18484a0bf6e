/** Settings of signing in by OpenID Connect. */
import { ROLES, type Role } from '../access/permissions.ts';
import type { OidcSettings, RoleRule } from '../people/oidc-claims.ts';
import { readAddress, readOn, readSetting, readWord, readWords } from './read-settings.ts';
import { type Environment, SettingError } from './setting-error.ts';

const CALLBACK = '/console/api/sign-in/oidc/callback';
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Nobody becomes an owner without being named. */
const DEFAULT_ROLES = ['none', ...ROLES.filter((role) => role !== 'owner')] as const;

/** `undefined`: there is no OIDC provider. */
export function readOidc(env: Environment): OidcSettings | undefined {
  const issuer = readAddress(env, 'MODELPORT_OIDC_ISSUER', ['https:', 'http:'], 'https://login.example.com');
  if (issuer === '') return undefined;
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && !LOOPBACK.has(hostname))
    throw new SettingError(
      'MODELPORT_OIDC_ISSUER must begin with https: http is possible on the loopback address alone.',
    );
  const clientId = readSetting(env, 'MODELPORT_OIDC_CLIENT_ID');
  if (clientId === '') throw new SettingError('MODELPORT_OIDC_ISSUER needs MODELPORT_OIDC_CLIENT_ID too.');
  const publicUrl = readSetting(env, 'MODELPORT_PUBLIC_URL').replace(/\/+$/, '');
  if (publicUrl === '')
    throw new SettingError(
      'MODELPORT_OIDC_ISSUER needs MODELPORT_PUBLIC_URL too: the provider sends people back there.',
    );
  const clientSecret = readSetting(env, 'MODELPORT_OIDC_CLIENT_SECRET');
  const defaultRole = readWord(env, 'MODELPORT_OIDC_DEFAULT_ROLE', DEFAULT_ROLES);
  const scopes = readWords(env, 'MODELPORT_OIDC_SCOPES');
  return {
    issuer,
    clientId,
    ...(clientSecret && { clientSecret }),
    clientAuth: readWord(env, 'MODELPORT_OIDC_CLIENT_AUTH', ['basic', 'post'] as const),
    redirectUri: `${publicUrl}${CALLBACK}`,
    name: readSetting(env, 'MODELPORT_OIDC_NAME'),
    scope: [...new Set(['openid', ...scopes])].join(' '),
    roleClaim: readSetting(env, 'MODELPORT_OIDC_ROLE_CLAIM'),
    roles: readRoles(env),
    ...(defaultRole !== 'none' && { defaultRole }),
    domains: readWords(env, 'MODELPORT_OIDC_EMAIL_DOMAINS').map((domain) => domain.toLowerCase()),
    createsPeople: readOn(env, 'MODELPORT_OIDC_CREATE_PEOPLE'),
  };
}

/** `platform-admins=owner, everybody=member`: values may contain spaces and equal signs. */
function readRoles(env: Environment): RoleRule[] {
  const parts = readSetting(env, 'MODELPORT_OIDC_ROLES')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  return parts.map((part) => {
    const at = part.lastIndexOf('=');
    const value = part.slice(0, at).trim();
    const role = part.slice(at + 1).trim();
    const known = ROLES.find((one) => one === role);
    if (at > 0 && value !== '' && known) return { value, role: known satisfies Role };
    throw new SettingError(
      `MODELPORT_OIDC_ROLES must list values with roles such as "platform-admins=owner, everybody=member", not "${part}". Roles are ${ROLES.join(', ')}.`,
    );
  });
}
