import { expect, test } from 'bun:test';
import { readOptions } from './options.ts';

test('options are parsed and have defaults', () => {
  expect(readOptions([])).toEqual({ windows: 15, seconds: 3, only: [], writeDocs: false });
  expect(readOptions(['--only', 'nginx,modelport', '--seconds', '2', '--windows', '30', '--write-docs'])).toEqual({
    seconds: 2,
    windows: 30,
    only: ['nginx', 'modelport'],
    writeDocs: true,
  });
  expect(readOptions(['--quick'])).toMatchObject({ windows: 5, seconds: 1.5 });
  expect(readOptions(['--soak', '10'])).toMatchObject({ soakMinutes: 10 });
  expect(readOptions(['--fleet'])).toMatchObject({ fleet: true });
  expect(readOptions(['--markdown'])).toMatchObject({ markdown: true });
});

test('an invalid option gives an error', () => {
  expect(readOptions(['--seconds', 'long'])).toBe('--seconds needs a number above zero');
  expect(readOptions(['--fast'])).toContain('unknown option --fast');
});
