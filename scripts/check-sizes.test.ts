import { expect, test } from 'bun:test';
import { sizeFaults } from './check-sizes.ts';

const lines = (count: number) => '  step();\n'.repeat(count);

test('a function of 70 lines passes, one of 71 is named with its line', () => {
  const text = `/** x */\nfunction short() {\n${lines(68)}}\nfunction long() {\n${lines(69)}}\n`;
  expect(sizeFaults([{ path: 'src/a/b.ts', text }])).toEqual(['src/a/b.ts:72: long has 71 lines, at most 70']);
});

test('the functions of a closure count for themselves', () => {
  const method = (name: string) => `    ${name}() {\n${lines(60)}    },\n`;
  const text = `function make() {\n  return {\n${method('one')}${method('two')}  };\n}\n`;
  expect(sizeFaults([{ path: 'src/a/b.ts', text }])).toEqual([]);
});

test('a method and an arrow are named by what holds them', () => {
  const text = `const o = { run() {\n${lines(80)}} };\nconst go = () => {\n${lines(80)}};\n`;
  const faults = sizeFaults([{ path: 'src/a/b.ts', text }]);
  expect(faults.map((fault) => fault.split(' ')[1])).toEqual(['run', 'go']);
});

test('a file has 400 lines, a dialect reader or writer 500, an exception its own bound', () => {
  const text = '// line\n'.repeat(450);
  const paths = ['src/a/b.ts', 'src/dialects/x/reader.ts', 'src/a/big.ts', 'src/a/b.test.ts'];
  const faults = sizeFaults(
    paths.map((path) => ({ path, text })),
    { 'src/a/big.ts': 460 },
  );
  expect(faults.map((fault) => fault.split(':')[0])).toEqual(['src/a/b.ts', 'src/a/b.test.ts']);
});

test('the functions of a test file may be as long as their tests', () => {
  expect(sizeFaults([{ path: 'src/a/b.test.ts', text: `describe('x', () => {\n${lines(100)}});\n` }])).toEqual([]);
});
