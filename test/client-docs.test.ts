/** Checks that docs/reference/clients.md equals the client matrix. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { clientsTable } from './clients/clients-table.ts';

test('docs/reference/clients.md has the table of the matrix that the suite runs', async () => {
  const text = await Bun.file(join(import.meta.dir, '../docs/reference/clients.md')).text();
  const table = text.split('\n').filter((line) => line.startsWith('|'));
  // If this fails, put the expected table into the document.
  expect(table.join('\n')).toBe(clientsTable());
});
