import { expect, test } from 'bun:test';
import {
  describedMembers,
  describedOperations,
  fullFolders,
  importCycles,
  looseFiles,
  outsideReferences,
  repeatedNames,
  shortFiles,
  testedFiles,
  testTiers,
} from './figures.ts';
import type { SourceFile } from './source-files.ts';

const file = (path: string, text = ''): SourceFile => ({ path, text });

test('a folder with more than 25 files is full, without tests', () => {
  const folder = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => [
      file(`src/${name}/f${index}.ts`),
      file(`src/${name}/f${index}.test.ts`),
    ]);
  const { value, places } = fullFolders([...folder('a', 26), ...folder('b', 25)].flat());
  expect({ value, places }).toEqual({ value: '1', places: ['src/a: 26'] });
});

test('short files are counted by their lines', () => {
  const { places } = shortFiles([
    file('src/a.ts', 'x;\n'.repeat(15)),
    file('src/b.ts', 'x;\n'.repeat(16)),
    file('src/a.test.ts', 'x;\n'),
  ]);
  expect(places).toEqual(['src/a.ts: 15']);
});

test('a type counts wherever it is declared, a function where it is exported', () => {
  const [types, values] = repeatedNames([
    file('src/a.ts', 'interface Picture { a: 1 }\nfunction read() {}\nexport const make = 1;'),
    file('src/b.ts', 'export type Picture = 1;\nfunction read() {}\nexport function make() {}'),
    file('src/c.ts', 'export class Other {}\nexport function read() {}'),
  ]);
  expect(types?.places).toEqual(['Picture (2): src/a.ts, src/b.ts']);
  expect(values?.places).toEqual(['make (2): src/a.ts, src/b.ts']);
});

test('a file is tested where a test of its module imports it', () => {
  const { value, places } = testedFiles([
    file('src/gateway/a.ts'),
    file('src/gateway/prepare/b.ts'),
    file('src/gateway/prepare/b.test.ts', "import { b } from './b.ts';\nimport { a } from '../../ledger/a.ts';"),
  ]);
  expect({ value, places }).toEqual({ value: '1 of 2', places: ['not: src/gateway/a.ts'] });
});

test('cycles are shown by their way', () => {
  const files = [
    file('src/a.ts', "import './b.ts';"),
    file('src/b.ts', "import './a.ts';"),
    file('src/c.ts', "import './a.ts';"),
  ];
  expect(importCycles(files).places).toEqual(['src/a.ts > src/b.ts']);
});

test('operations are counted by what they describe', () => {
  const reply = { 200: { content: { 'text/event-stream': { schema: {}, example: {} } } } };
  const figures = describedOperations({
    paths: {
      '/a': { post: { operationId: 'a', requestBody: { content: { json: { schema: {} } } }, responses: reply } },
      '/b': { get: { operationId: 'b', responses: { 200: {} } } },
    },
    components: { schemas: {} },
  });
  expect(figures.map(({ value }) => value)).toEqual(['2 of 2', '1 of 2', '1 of 2', '1 of 1', '0 of 1', '1 of 2']);
  expect(figures[4]?.places).toEqual(['not: a']);
});

test('cases are counted by tier, a table as one', () => {
  const text =
    "test('a', () => {});\ntest.each([1])('b', () => {});\ntest.skipIf(x).each([1])('c', () => {});\nother('d', 1);";
  const figures = testTiers([
    file('src/a.test.ts', text),
    file('test/e2e/b.test.ts', text),
    file('test/system/c.test.ts', text),
    file('src/a.ts', text),
  ]);
  expect(figures.map(({ value }) => value)).toEqual(['3 in 1 files', '3 in 1 files', '3 in 1 files']);
});

test('files count as loose in the folder itself, without tests', () => {
  const files = ['src/http/a.ts', 'src/http/a.test.ts', 'src/http/routes/b.ts'].map((path) => file(path));
  expect(looseFiles(files, ['src/http'])).toEqual([
    { name: 'files directly in src/http/', value: '1', places: ['src/http/a.ts'] },
  ]);
});

test('a reference to a document outside the repository has its line', () => {
  const text =
    '// A rule.\n// As specification 2.6 says.\n// See docs/decisions/0001-bun-through-npm.md.\n// As in behaviour.md.\n';
  expect(outsideReferences([file('src/a.ts', text)]).places).toEqual(['src/a.ts:2', 'src/a.ts:4']);
});

test('members of requests are counted by their schemas', () => {
  const schemas = { ChatCompletionRequest: { properties: { model: {}, messages: {} } } };
  const [chat, responses] = describedMembers({ paths: {}, components: { schemas } });
  expect([chat?.value, responses?.value]).toEqual(['2', '0']);
});
