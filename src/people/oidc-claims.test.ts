import { describe, expect, test } from 'bun:test';
import { claimNamed, isInDomains, nameFromClaims, roleFromClaims, verifiedEmail } from './oidc-claims.ts';

const rules = {
  roleClaim: 'groups',
  roles: [{ value: 'admins', role: 'owner' } as const, { value: 'staff', role: 'member' } as const],
};

test('an address counts only if the provider has verified it', () => {
  expect(verifiedEmail({ email: ' Ann@Example.test', email_verified: true })).toBe('ann@example.test');
  expect(verifiedEmail({ email: 'ann@example.test', email_verified: 'true' })).toBe('ann@example.test');
  for (const isVerified of [undefined, false, 'false', 1, null])
    expect(verifiedEmail({ email: 'ann@example.test', email_verified: isVerified })).toBeUndefined();
  for (const email of ['', 'ann', 'a b@example.test', `${'a'.repeat(250)}@example.test`, 7, ['ann@example.test']])
    expect(verifiedEmail({ email, email_verified: true })).toBeUndefined();
});

test('a domain is compared as a whole', () => {
  expect(isInDomains(undefined, [])).toBe(true);
  expect(isInDomains(undefined, ['corp.test'])).toBe(false);
  expect(isInDomains('ann@corp.test', ['other.test', 'corp.test'])).toBe(true);
  for (const email of ['ann@sub.corp.test', 'ann@corp.test.evil.test', 'corp.test@evil.test', 'ann@evilcorp.test'])
    expect(isInDomains(email, ['corp.test'])).toBe(false);
});

describe('the role', () => {
  test('is that of the first rule whose value the claim has', () => {
    expect(roleFromClaims({ groups: ['staff', 'admins'] }, rules, 'member')).toBe('owner');
    expect(roleFromClaims({ groups: 'staff' }, rules, 'owner')).toBe('member');
    expect(roleFromClaims({ groups: ['Admins', 'admin', { admins: true }] }, rules, 'owner')).toBeUndefined();
    expect(roleFromClaims({}, { ...rules, defaultRole: 'support' }, 'owner')).toBe('support');
  });

  test('is given in the console where there are no rules', () => {
    const none = { roleClaim: 'groups', roles: [] };
    expect(roleFromClaims({ groups: ['admins'] }, none, undefined)).toBeUndefined();
    expect(roleFromClaims({}, { ...none, defaultRole: 'member' }, undefined)).toBe('member');
    expect(roleFromClaims({}, { ...none, defaultRole: 'member' }, 'operator')).toBe('operator');
  });
});

test('a claim is found by its whole name, then within objects', () => {
  const claims = { 'https://x.test/roles': ['a'], realm_access: { roles: ['b'] } };
  expect(claimNamed(claims, 'https://x.test/roles')).toEqual(['a']);
  expect(claimNamed(claims, 'realm_access.roles')).toEqual(['b']);
  for (const name of ['realm_access.none', 'none.roles', 'constructor', 'realm_access.constructor.name'])
    expect(claimNamed(claims, name)).toBeUndefined();
});

test('a name has no control characters and is not longer than a name may be', () => {
  expect(nameFromClaims({ name: ' A\u202enn\u0000 ' }, undefined)).toBe('Ann');
  expect(nameFromClaims({ name: 7, preferred_username: 'ann' }, 'ann@example.test')).toBe('ann');
  expect(nameFromClaims({ name: '\u200b' }, 'ann@example.test')).toBe('ann@example.test');
  expect(nameFromClaims({ name: 'n'.repeat(300) }, undefined)).toHaveLength(200);
  expect(nameFromClaims({}, undefined)).toBe('Person');
});
