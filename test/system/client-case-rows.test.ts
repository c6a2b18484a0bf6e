/** The table of client cases is complete: unique numbers, existing tests, and a row for every test that names a case. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_CASES } from '../clients/client-cases.ts';

const ROOT = join(import.meta.dirname, '../..');
const NUMBER_OF_CASES = 50;

const sourceOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('every case has its row', () => {
  const ids = Array.from({ length: NUMBER_OF_CASES }, (_, index) => index + 1);
  expect(CLIENT_CASES.map(({ id }) => id)).toEqual(ids);
  for (const { id, shownBy, open } of CLIENT_CASES) {
    if (open === undefined) expect({ id, shown: shownBy.length > 0 }).toEqual({ id, shown: true });
  }
});

test('every test named by a row exists', () => {
  const missing = CLIENT_CASES.flatMap(({ id, shownBy }) =>
    shownBy
      .filter(([file, words]) => !sourceOf(file).includes(words))
      .map(([file, words]) => `${id}: ${file}: ${words}`),
  );
  expect(missing).toEqual([]);
});

test('every case named by a test refers to that test', () => {
  const file = 'test/system/client-cases.test.ts';
  const named = new Set([...sourceOf(file).matchAll(/['"`]case (\d+):/g)].map(([, id]) => Number(id)));
  expect(named.size).toBeGreaterThan(10);
  for (const { id, shownBy } of CLIENT_CASES) {
    if (named.has(id))
      expect({ id, files: shownBy.map(([path]) => path) }).toEqual({ id, files: expect.arrayContaining([file]) });
  }
});
