/** The lists of members that the tests go through are those of the official libraries: a new member of a library is a failing test. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { installClients } from '../../clients/install.ts';
import { libraryMembers } from '../library-members.ts';
import type { Group } from './group.ts';

export function testDeclaredMembers(groups: readonly Group[]): void {
  beforeAll(() => installClients(), 300_000);

  describe('the lists of members equal those of the official libraries', () => {
    const declared = groups.flatMap((group) =>
      group.declared === undefined ? [] : [[group.declared, group] as const],
    );
    test.each(declared)('%s', (name, { members, elsewhere = [] }) => {
      expect([...Object.keys(members), ...elsewhere].toSorted()).toEqual(libraryMembers(name));
    });
  });
}
