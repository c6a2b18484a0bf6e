import { expect, test } from 'bun:test';
import { chooseFiles, skipReasons } from './test.ts';

const FILES = ['src/a.test.ts', 'test/e2e/b.test.ts', 'test/system/c.test.ts'];

test('without arguments the slow tier is left out; `--all` and a path bring it back', () => {
  expect(chooseFiles(FILES, [])).toEqual(['src/a.test.ts', 'test/e2e/b.test.ts']);
  expect(chooseFiles(FILES, ['--all'])).toEqual(FILES);
  expect(chooseFiles(FILES, ['./test/system'])).toEqual(['test/system/c.test.ts']);
  expect(chooseFiles(FILES, ['--shard=1/2'])).toEqual(['src/a.test.ts', 'test/e2e/b.test.ts']);
});

test('each reason for which tests are skipped is told once', () => {
  const output =
    '(pass) a\nPostgres is not installed: its tests are skipped.\n(pass) b\nPostgres is not installed: its tests are skipped.\n';
  expect(skipReasons(output)).toEqual(['Postgres is not installed: its tests are skipped.']);
});
