import { expect, test } from 'bun:test';
import { readOptions } from './options.ts';

const NAMES = ['nginx', 'modelport'];

test('options are parsed and have defaults', () => {
  expect(readOptions([], NAMES)).toEqual({ windows: 15, seconds: 3, only: [], writeDocs: false });
  expect(
    readOptions(['--only', 'nginx,modelport', '--seconds', '2', '--windows', '30', '--write-docs'], NAMES),
  ).toEqual({
    seconds: 2,
    windows: 30,
    only: ['nginx', 'modelport'],
    writeDocs: true,
  });
  expect(readOptions(['--quick'], NAMES)).toMatchObject({ windows: 5, seconds: 1.5 });
  expect(readOptions(['--soak', '10'], NAMES)).toMatchObject({ soakMinutes: 10 });
  expect(readOptions(['--fleet'], NAMES)).toMatchObject({ fleet: true });
  expect(readOptions(['--markdown'], NAMES)).toMatchObject({ markdown: true });
});

test('an invalid option gives an error', () => {
  expect(readOptions(['--seconds', 'long'], NAMES)).toBe('--seconds needs a number above zero');
  expect(readOptions(['--fast'], NAMES)).toContain('unknown option --fast');
  expect(readOptions(['--help'], NAMES)).toMatch(/^npm run bench/);
});

test('--only takes names that there are', () => {
  for (const args of [['--only'], ['--only', ',']]) expect(readOptions(args, NAMES)).toBe('--only needs names');
  expect(readOptions(['--only', 'nginx,modelprot'], NAMES)).toBe(
    '--only does not know modelprot; there are nginx, modelport',
  );
});
