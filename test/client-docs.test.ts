/** Holds docs/reference/clients.md and the client matrix equal. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { clientsTable } from './clients/clients-table.ts';

test('docs/reference/clients.md has the table of the matrix as the suite runs it', async () => {
  const text = await Bun.file(join(import.meta.dir, '../docs/reference/clients.md')).text();
  const table = text.split('\n').filter((line) => line.startsWith('|'));
  // Where they differ, put this table there.
  expect(table.join('\n')).toBe(clientsTable());
});
