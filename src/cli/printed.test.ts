import { expect, test } from 'bun:test';
import { alignedLines } from './printed.ts';

test('columns are aligned, with numbers and money on the right', () => {
  const rows = [
    { name: 'a', count: 5, cost: 1_500_000_000n, models: ['x', 'y'] },
    { name: 'longer', count: 1234, cost: 10n },
  ];
  expect(alignedLines(rows)).toEqual([
    'NAME    COUNT        COST  MODELS',
    'a           5         1.5  x,y',
    'longer   1234  0.00000001',
  ]);
});
