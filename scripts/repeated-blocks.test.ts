import { expect, test } from 'bun:test';
import { repeatedBlocks } from './repeated-blocks.ts';

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `call(${from + index});`);
const file = (path: string, ...text: string[]) => ({ path, text: text.join('\n') });

test('six equal lines in two places are a block, and more of them the same block', () => {
  const found = repeatedBlocks([
    file('a.ts', 'first();', ...lines(0, 8)),
    file('b.ts', ...lines(0, 8), 'last();'),
    file('c.ts', ...lines(0, 5), 'other();', ...lines(5, 8)),
  ]);
  expect(found).toEqual(['a.ts:2 ~ b.ts:1']);
});

test('space, comments, brackets and imports are passed over', () => {
  const names = Array.from({ length: 10 }, (_, index) => `  name${index},`);
  const imports = ['import {', ...names, "} from './d.ts';"];
  const found = repeatedBlocks([
    file('a.ts', ...imports, ...lines(0, 3), '// A reason.', '}', ...lines(3, 6)),
    file('b.ts', ...imports, ...lines(0, 6).map((line) => `  ${line}`)),
  ]);
  expect(found).toEqual(['a.ts:13 ~ b.ts:13']);
});

test('a block of one file counts, and one that is in many places does not', () => {
  expect(repeatedBlocks([file('a.ts', ...lines(0, 6), 'between();', ...lines(0, 6))])).toEqual(['a.ts:1 ~ a.ts:8']);
  const many = Array.from({ length: 9 }, (_, index) => file(`f${index}.ts`, ...lines(0, 6)));
  expect(repeatedBlocks(many)).toEqual([]);
});
