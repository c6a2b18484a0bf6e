import { expect, test } from 'bun:test';
import { chooseFiles, failures, planRun, readArguments, shardOf, skipReasons } from './test.ts';

const FILES = ['src/a.test.ts', 'test/e2e/b.test.ts', 'test/system/c.test.ts'];

test('without arguments the slow tier is left out; `--all` and a path bring it back', () => {
  expect(chooseFiles(FILES, [])).toEqual(['src/a.test.ts', 'test/e2e/b.test.ts']);
  expect(chooseFiles(FILES, ['--all'])).toEqual(FILES);
  expect(chooseFiles(FILES, ['./test/system'])).toEqual(['test/system/c.test.ts']);
  expect(chooseFiles(FILES, ['--shard=1/2'])).toEqual(['src/a.test.ts', 'test/e2e/b.test.ts']);
});

test('each reason for skipped tests is reported once', () => {
  const output =
    '(pass) a\nPostgres is not installed: its tests are skipped.\n(pass) b\nPostgres is not installed: its tests are skipped.\n';
  expect(skipReasons(output)).toEqual(['Postgres is not installed: its tests are skipped.']);
});

test('the longest files start first, and those that load the machine or measure it run alone', () => {
  const load = 'test/system/sandbox-load.test.ts';
  const slow = 'test/system/clients/matrix.test.ts';
  const many = Array.from({ length: 13 }, (_, index) => `src/${index}.test.ts`);
  const { together, alone } = planRun([...FILES, ...many, load, slow]);
  expect(alone).toEqual([[load]]);
  expect(together[0]).toEqual([slow]);
  expect(together[1]?.slice(0, 2)).toEqual(['test/system/c.test.ts', 'test/e2e/b.test.ts']);
  expect(together.flat().toSorted()).toEqual([...FILES, ...many, slow].toSorted());
});

test('the shards of several machines have every file once', () => {
  const parts = ['--shard=1/3', '--shard=2/3', '--shard=3/3'].flatMap((shard) => shardOf(FILES, shard));
  expect(parts.toSorted()).toEqual(FILES);
  expect(shardOf(FILES, undefined)).toEqual(FILES);
  expect(() => shardOf(FILES, '--shard=3')).toThrow('is not of the form');
});

test('`-t NAME` is an option with its value, no path', () => {
  expect(readArguments(['-t', 'a name', './src', '--all', '--bail'])).toEqual({
    paths: ['src'],
    options: ['--test-name-pattern=a name', '--bail'],
    all: true,
  });
});

test('a failure is reported with its file and the lines before it, also for a failed hook', () => {
  const output = [
    'src/a.test.ts:',
    '(pass) works [1ms]',
    'error: no gateway',
    '(fail) (unnamed) [2ms]',
    '',
    'src/b.test.ts:',
    'noise',
    '(skip) left out',
    'error: 1 is not 2',
    '(fail) adds up [1ms]',
    '1 test failed:',
    '(fail) adds up [1ms]',
  ].join('\n');
  expect(failures(output)).toEqual([
    'src/a.test.ts: (fail) (unnamed) [2ms]\n  error: no gateway',
    'src/b.test.ts: (fail) adds up [1ms]\n  error: 1 is not 2',
  ]);
});
