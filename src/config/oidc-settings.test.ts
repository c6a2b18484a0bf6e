import { expect, test } from 'bun:test';
import { readOidc } from './oidc-settings.ts';

const GIVEN = {
  MODELPORT_OIDC_ISSUER: 'https://login.example.test/realm',
  MODELPORT_OIDC_CLIENT_ID: 'modelport',
  MODELPORT_PUBLIC_URL: 'https://models.example.test/',
};

test('without an issuer there is no provider', () => {
  expect(readOidc({ MODELPORT_OIDC_CLIENT_ID: 'modelport' })).toBeUndefined();
});

test('the settings of a provider', () => {
  expect(readOidc(GIVEN)).toEqual({
    ...{ issuer: GIVEN.MODELPORT_OIDC_ISSUER, clientId: 'modelport', clientAuth: 'basic', name: 'SSO' },
    ...{ redirectUri: 'https://models.example.test/console/api/sign-in/oidc/callback', scope: 'openid email profile' },
    ...{ roleClaim: 'groups', roles: [], domains: [], createsPeople: true },
  });
  const more = {
    MODELPORT_OIDC_SCOPES: 'profile groups',
    MODELPORT_OIDC_ROLES: 'CN=Admins, of all=owner',
    MODELPORT_OIDC_DEFAULT_ROLE: 'member',
    MODELPORT_OIDC_EMAIL_DOMAINS: 'Example.test',
  };
  expect(() => readOidc({ ...GIVEN, ...more })).toThrow('MODELPORT_OIDC_ROLES must list');
  expect(readOidc({ ...GIVEN, ...more, MODELPORT_OIDC_ROLES: 'CN=Admins=owner, all staff = member' })).toMatchObject({
    scope: 'openid profile groups',
    roles: [
      { value: 'CN=Admins', role: 'owner' },
      { value: 'all staff', role: 'member' },
    ],
    defaultRole: 'member',
    domains: ['example.test'],
  });
});

test.each([
  [{ MODELPORT_OIDC_ISSUER: 'http://login.example.test' }, 'must begin with https'],
  [{ MODELPORT_OIDC_ISSUER: 'login.example.test' }, 'must be a URL'],
  [{ MODELPORT_OIDC_CLIENT_ID: '' }, 'needs MODELPORT_OIDC_CLIENT_ID'],
  [{ MODELPORT_PUBLIC_URL: '' }, 'needs MODELPORT_PUBLIC_URL'],
  [{ MODELPORT_OIDC_DEFAULT_ROLE: 'owner' }, 'must be one of none, operator'],
  [{ MODELPORT_OIDC_ROLES: 'admins=boss' }, 'not "admins=boss"'],
])('%p is refused', (change, message) => {
  expect(() => readOidc({ ...GIVEN, ...change })).toThrow(message);
});

test('http is for the loopback address', () => {
  expect(readOidc({ ...GIVEN, MODELPORT_OIDC_ISSUER: 'http://127.0.0.1:9000' })?.issuer).toBe('http://127.0.0.1:9000');
});
