/** Checks that docs/reference/errors.md equals the table of errors. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { ERRORS } from '../src/canonical/errors.ts';

const ROW = /^\| `(\w+)` \| (\d+) \| (yes|no) \| (\S+) \| (\S+) \| (\S+) \| (.+) \|$/gm;

test('docs/reference/errors.md lists every error code of the table and no other', async () => {
  const text = await Bun.file(join(import.meta.dir, '../docs/reference/errors.md')).text();
  const documented: { [code: string]: object } = {};
  for (const [, code = '', status, retried, openai, anthropic, google] of text.matchAll(ROW)) {
    documented[code] = { status: Number(status), retryable: retried === 'yes', openai, anthropic, google };
  }
  expect(documented).toEqual(ERRORS);
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.length).toBe(Object.keys(ERRORS).length);
});
