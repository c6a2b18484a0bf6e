import { expect, test } from 'bun:test';
import { docFaults } from './check-docs.ts';

const MAP = { path: 'ARCHITECTURE.md', text: 'The module `src/store/`.\n' };
const PATHS = ['ARCHITECTURE.md', 'README.md', 'src/store/sqlite.ts', 'docs/decisions/0001-bun.md'];

/** The faults of a README with this text, in a repository without other faults. */
function readmeFaults(text: string): string[] {
  return docFaults({ documents: [MAP, { path: 'README.md', text }], paths: PATHS, sources: [] });
}

test('existing paths are accepted: from the root, from src/, folders, and file names', () => {
  expect(readmeFaults('`src/store/sqlite.ts` `store/sqlite.ts` `docs/decisions/` `sqlite.ts` `src/store`')).toEqual([]);
});

test('text that is not a path is ignored', () => {
  expect(
    readmeFaults('`application/json` `/v1/models` `store/<engine>.ts` `*.test.ts` `npm ci`\n```\n`src/x.ts`\n```'),
  ).toEqual([]);
});

test('a path that does not exist is a fault with its line', () => {
  expect(readmeFaults('\n`src/store/postgres.ts`\n`store/redis.ts` and `gone.ts`')).toEqual([
    'README.md:2: names src/store/postgres.ts, which does not exist',
    'README.md:3: names store/redis.ts, which does not exist',
    'README.md:3: names gone.ts, which does not exist',
  ]);
});

test('a document about one folder names files of this folder', () => {
  const paths = [...PATHS, 'src/http1/README.md', 'src/http1/server.ts', 'src/http1/fuzz/allowed.ts'];
  const text = '`server.ts` `fuzz/allowed.ts` `docs/decisions/0001-bun.md` `sqlite.ts` `fuzz/gone.ts`';
  const map = { ...MAP, text: `${MAP.text} \`src/http1/\`` };
  expect(docFaults({ documents: [map, { path: 'src/http1/README.md', text }], paths, sources: [] })).toEqual([
    'src/http1/README.md:1: names sqlite.ts, which does not exist',
    'src/http1/README.md:1: names fuzz/gone.ts, which does not exist',
  ]);
});

test('the unreleased part of the changelog is sorted by kind and area, and wrapped', () => {
  const faults = (text: string) =>
    docFaults({ documents: [MAP, { path: 'CHANGELOG.md', text }], paths: [...PATHS, 'CHANGELOG.md'], sources: [] });
  const kept = `## 0.1.0\n\n#### Money\n\n- ${'a'.repeat(200)}\n`;
  expect(faults(`## Unreleased\n### Added\n#### API\n#### Project\n### Fixed\n#### API\n- It.\n${kept}`)).toEqual([]);
  expect(faults(`## Unreleased\n### Fixed\n#### Project\n#### API\n#### Money\n### Added\n${kept}`)).toEqual([
    'CHANGELOG.md:4: API is not in the order API, Routing, Console and people, Money and reports, Operation, Performance, Project',
    'CHANGELOG.md:5: Money is not in the order API, Routing, Console and people, Money and reports, Operation, Performance, Project',
    'CHANGELOG.md:6: Added is not in the order Added, Changed, Deprecated, Removed, Fixed, Security',
  ]);
  expect(faults(`## Unreleased\n- ${'a'.repeat(149)}\n${kept}`)).toEqual([
    'CHANGELOG.md:2: is longer than 150 characters',
  ]);
});

test('links must lead to existing files and headings', () => {
  expect(
    readmeFaults('# Run it, now\n[a](#run-it-now) [b](docs/decisions/0001-bun.md) [c](https://example.com/x)'),
  ).toEqual([]);
  expect(readmeFaults('[a](#gone) [b](docs/gone.md)')).toEqual([
    'README.md:1: links to #gone, but README.md has no such heading',
    'README.md:1: links to docs/gone.md, which does not exist',
  ]);
});

test('every module of src/ must be in ARCHITECTURE.md', () => {
  const paths = [...PATHS, 'src/ledger/ledger.ts', 'src/transport/transport.ts', 'src/transport/transport.test.ts'];
  expect(docFaults({ documents: [MAP], paths, sources: [] })).toEqual([
    'ARCHITECTURE.md: does not show `src/ledger/`',
    'ARCHITECTURE.md: does not show `src/transport/`',
  ]);
  expect(docFaults({ documents: [], paths, sources: [] })).toEqual(['ARCHITECTURE.md does not exist']);
});

test('drawings of ARCHITECTURE.md show every module, and files that exist', () => {
  const text = 'The module `src/store/`.\n```\ncli\n```\n```\nstore/sqlite.ts\n  store/redis.ts\n```\n';
  expect(docFaults({ documents: [{ path: 'ARCHITECTURE.md', text }], paths: PATHS, sources: [] })).toEqual([
    'ARCHITECTURE.md: the first drawing lacks store',
    'ARCHITECTURE.md: a drawing names store/redis.ts, which does not exist',
  ]);
});

test('every file except tests must begin with a sentence about itself', () => {
  const sources = [
    { path: 'src/a/good.ts', text: '/** What it is. */\n' },
    { path: 'src/a/tool.ts', text: '#!/usr/bin/env node\n/** What it is. */\n' },
    { path: 'src/a/bad.ts', text: `import { a } from './a.ts';\n/** late */\n` },
    { path: 'src/a/bad.test.ts', text: `import { a } from './a.ts';\n` },
  ];
  expect(docFaults({ documents: [MAP], paths: PATHS, sources })).toEqual([
    'src/a/bad.ts:1: begins without a sentence about the file',
  ]);
});

test('documents and headings named in code must exist', () => {
  const api = { path: 'docs/api.md', text: '## Chat completions\n' };
  const text =
    '/** As docs/api.md#chat-completions and https://a.test/docs/b.md say. */\n// docs/api.md#gone, docs/gone.md\n';
  const sources = [{ path: 'src/store/a.ts', text }];
  expect(docFaults({ documents: [MAP, api], paths: [...PATHS, 'docs/api.md'], sources })).toEqual([
    'src/store/a.ts:2: names docs/api.md#gone, but docs/api.md has no such heading',
    'src/store/a.ts:2: names docs/gone.md, which does not exist',
  ]);
});
