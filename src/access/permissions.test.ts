import { expect, test } from 'bun:test';
import { PERMISSIONS, PERMISSIONS_OF, type Permission, ROLES } from './permissions.ts';

const has = (role: (typeof ROLES)[number], permission: Permission) => PERMISSIONS_OF[role].has(permission);

test('an owner may do everything, and only an owner manages people, admin keys and secrets', () => {
  expect([...PERMISSIONS_OF.owner].toSorted()).toEqual([...PERMISSIONS].toSorted());
  for (const permission of ['people:read', 'people:write', 'admin-keys:write', 'settings:write'] as const)
    expect(ROLES.filter((role) => has(role, permission))).toEqual(['owner']);
});

test('support reads without payloads, and a member has only the own account', () => {
  const changes = [...PERMISSIONS_OF.support].filter((one) => one.endsWith(':write'));
  expect(changes).toEqual(['own:write']);
  expect(has('support', 'payloads:read')).toBe(false);
  expect([...PERMISSIONS_OF.member].toSorted()).toEqual(['own:read', 'own:write', 'playground']);
});

test('finance moves money and operators do not; operators change providers and finance does not', () => {
  expect(ROLES.filter((role) => has(role, 'money:write'))).toEqual(['owner', 'finance']);
  expect(ROLES.filter((role) => has(role, 'supply:write'))).toEqual(['owner', 'operator']);
  expect(ROLES.filter((role) => has(role, 'prices:write'))).toEqual(['owner', 'operator', 'finance']);
});
