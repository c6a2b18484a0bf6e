import { expect, test } from 'bun:test';
import { sizeFaults } from './check-sizes.ts';

const lines = (count: number) => '  step();\n'.repeat(count);

test('a function of 70 lines is accepted, and one of 71 is reported with its line', () => {
  const text = `/** x */\nfunction short() {\n${lines(68)}}\nfunction long() {\n${lines(69)}}\n`;
  expect(sizeFaults([{ path: 'src/a/b.ts', text }])).toEqual(['src/a/b.ts:72: long has 71 lines, at most 70']);
});

test('functions inside a function count for themselves', () => {
  const method = (name: string) => `    ${name}() {\n${lines(60)}    },\n`;
  const text = `function make() {\n  return {\n${method('one')}${method('two')}  };\n}\n`;
  expect(sizeFaults([{ path: 'src/a/b.ts', text }])).toEqual([]);
});

test('a method and an arrow function are named by what contains them', () => {
  const text = `const o = { run() {\n${lines(80)}} };\nconst go = () => {\n${lines(80)}};\n`;
  const faults = sizeFaults([{ path: 'src/a/b.ts', text }]);
  expect(faults.map((fault) => fault.split(' ')[1])).toEqual(['run', 'go']);
});

test('a file may have 400 lines, a dialect reader or writer 500, an exception its own limit', () => {
  const text = '// line\n'.repeat(450);
  const paths = ['src/a/b.ts', 'src/dialects/x/reader.ts', 'src/a/big.ts', 'src/a/b.test.ts'];
  const faults = sizeFaults(
    paths.map((path) => ({ path, text })),
    { 'src/a/big.ts': 460 },
  );
  expect(faults.map((fault) => fault.split(':')[0])).toEqual(['src/a/b.ts', 'src/a/b.test.ts']);
});

test('functions in test files have no limit', () => {
  expect(sizeFaults([{ path: 'src/a/b.test.ts', text: `describe('x', () => {\n${lines(100)}});\n` }])).toEqual([]);
});
