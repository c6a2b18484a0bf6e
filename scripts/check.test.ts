import { expect, test } from 'bun:test';
import { chooseSteps, writeOutcome } from './check.ts';

const STEPS = [
  { name: 'types', command: ['tsc'] },
  { name: 'tests', command: ['test'] },
];

test('--no-tests leaves the tests out, and other arguments are refused', () => {
  expect(chooseSteps(STEPS, [])).toEqual(STEPS);
  expect(chooseSteps(STEPS, ['--no-tests'])).toEqual(STEPS.slice(0, 1));
  expect(chooseSteps(STEPS, ['--fast'])).toBe('unknown argument --fast: only --no-tests is supported');
});

test('each step is one line, and a failed step adds its output', () => {
  expect(writeOutcome({ name: 'types', exitCode: 0, milliseconds: 1234, output: 'noise' })).toBe(
    'ok   types      1.2 s',
  );
  expect(writeOutcome({ name: 'lint', exitCode: 1, milliseconds: 10, output: 'a\nb\n' })).toBe(
    'FAIL lint       0.0 s\n     a\n     b',
  );
});
