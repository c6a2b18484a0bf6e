import { expect, test } from 'bun:test';
import type { SignedIn } from '../api/session.ts';
import { menuFor } from './menu.ts';

const READS = ['overview:read', 'calls:read', 'keys:read', 'playground', 'own:read', 'own:write'] as const;
const pathsFor = (permissions: SignedIn['permissions'], accounts: SignedIn['accounts'] = []) =>
  menuFor({ permissions, accounts }).flatMap(({ items }) => items.map(({ to }) => to));

test('pages that charge an account are in the menu of those who have one', () => {
  expect(pathsFor([...READS])).not.toContain('/playground');
  expect(pathsFor([...READS])).not.toContain('/tasks');
  expect(pathsFor([...READS])).toContain('/calls');
  expect(pathsFor([...READS], [{ id: 'acct_1', name: 'own' }])).toContain('/playground');
  expect(pathsFor([...READS, 'keys:write'])).toContain('/tasks');
});
