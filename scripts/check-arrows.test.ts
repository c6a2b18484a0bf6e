import { expect, test } from 'bun:test';
import { arrowFaults, cyclesOf } from './check-arrows.ts';
import { cyclesIn } from './import-cycles.ts';

const NAMES = { dialects: ['openai-chat', 'gemini'], providers: ['groq', 'openai'], engines: ['sqlite', 'postgres'] };

/** The faults of these files, without their positions. */
function faultsOf(files: { [path: string]: string }): string[] {
  return arrowFaults(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    NAMES,
  ).map((fault) => fault.replace(/^[^ ]+ /, ''));
}

test('a module may import from lower rungs and from itself', () => {
  expect(
    faultsOf({
      'src/gateway/serve.ts': `import { a } from '../ledger/ledger.ts';\nimport { b } from './meter.ts';\nimport { z } from 'typebox';`,
      'src/main.ts': `import { c } from './config.ts';\nimport pkg from '../package.json';`,
    }),
  ).toEqual([]);
});

test.each([
  ['up', 'src/ledger/hold.ts', `import { a } from '../gateway/serve.ts';`],
  ['sideways', 'src/catalog/order.ts', `import { a } from '../ledger/ledger.ts';`],
  ['sideways, a type', 'src/http/routes.ts', `import type { A } from '../cli/cli.ts';`],
  ['up, by a dynamic import', 'src/store/store.ts', `const a = await import('../ledger/ledger.ts');`],
])('the import %s is a fault', (_, path, text) => {
  expect(faultsOf({ [path]: text })).toEqual([expect.stringContaining('imports only from lower rungs')]);
});

test('a re-export is an import, and a fault of its own', () => {
  expect(faultsOf({ 'src/store/store.ts': `export { a } from '../ledger/ledger.ts';` })).toEqual([
    expect.stringContaining('imports only from lower rungs'),
    expect.stringContaining('no barrels'),
  ]);
  expect(faultsOf({ 'src/store/store.ts': `export type { A } from './rows.ts';` })).toEqual([
    expect.stringContaining('no barrels'),
  ]);
  expect(faultsOf({ 'src/store/store.ts': 'export const a = 1;\nexport { b };\nconst b = 2;' })).toEqual([]);
});

test('only main.ts and the main files import config.ts', () => {
  expect(faultsOf({ 'src/serve.ts': `import { c } from './config.ts';\nimport { h } from './house.ts';` })).toEqual([]);
  expect(faultsOf({ 'src/main.ts': `import type { Config } from './config.ts';` })).toEqual([]);
  expect(faultsOf({ 'src/cli/cli.ts': `import type { Config } from '../config.ts';` })).toHaveLength(1);
});

test('src/ imports nothing of web/, test/ or scripts/, except that its tests may use shared fixtures', () => {
  const text = `import { a } from '../../test/fixtures.ts';`;
  expect(faultsOf({ 'src/store/store.ts': text })).toEqual([expect.stringContaining('must not import other folders')]);
  expect(faultsOf({ 'src/store/store.test.ts': text })).toEqual([]);
});

test('rows of a table never import each other, and all may import the shared files', () => {
  const index = `import { a } from './gemini/gemini.ts';\nimport { b } from './rerank.ts';\nimport type { D } from './dialect.ts';`;
  const row = `import { b } from '../rerank.ts';\nimport { c } from '../sse.ts';\nimport type { D } from '../dialect.ts';`;
  expect(faultsOf({ 'src/dialects/index.ts': index, 'src/dialects/gemini/gemini.ts': row })).toEqual([
    expect.stringContaining('rows of dialects/'),
  ]);
});

test.each([
  ['src/http1/server.ts', `import { a } from '../canonical/errors.ts';`, 'imports only from lower rungs'],
  ['src/ledger/ledger.ts', `db.run('INSERT INTO holds VALUES (1)');`, 'SQL'],
  ['src/ledger/ledger.ts', 'const q = `SELECT a FROM b WHERE c = 1`;', 'SQL'],
  ['src/ledger/ledger.ts', `import { Database } from 'bun:sqlite';`, 'only store/'],
  ['src/gateway/attempt.ts', `await fetch('x');`, 'only http1/ and transport/'],
  ['src/gateway/attempt.ts', `import net from 'node:net';`, 'only http1/ and transport/'],
  ['src/store/backup.ts', `import { createGzip } from 'node:zlib';`, 'a start would load it'],
  ['src/people/hosts.ts', `import { isIP } from 'node:net';`, 'a start would load it'],
  ['src/http/routes.ts', 'const port = process.env.PORT;', 'only config.ts reads the environment'],
  ['src/http/routes.ts', 'const port = Bun.env.PORT;', 'only config.ts reads the environment'],
  ['src/gateway/serve.ts', `import { Hono } from 'hono';`, 'only http/'],
  ['src/gateway/serve.ts', `if (target.type === 'groq') go();`, 'compares the name'],
  ['src/gateway/serve.ts', `switch (dialect?.name) { case 'openai-chat': go(); }`, 'compares the name'],
  ['src/ledger/ledger.ts', `const big = engine !== 'sqlite';`, 'compares the name'],
  ['src/providers/openai.ts', `const a = name === 'groq';`, 'compares the name'],
  ['src/store/index.ts', 'const a = 1;', 'barrel files'],
  ['src/store/helpers.ts', 'const a = 1;', 'says nothing'],
  ['src/store/groupCommit.ts', 'const a = 1;', 'kebab-case'],
  ['src/cache/cache.ts', 'const a = 1;', 'no rung'],
  ['src/store/store.ts', `import { a } from './rows';`, 'extension'],
])('%s: %s', (path, text, why) => {
  expect(faultsOf({ [path]: text })).toEqual([expect.stringContaining(why)]);
});

test('each restricted operation is allowed in its own module and in tests', () => {
  expect(
    faultsOf({
      'src/store/sqlite.ts': `import { Database } from 'bun:sqlite';\ndb.run('PRAGMA journal_mode = WAL');\nif (e === 'sqlite') go();`,
      'src/transport/guarded-fetch.ts': `const net = await import('node:net');\nawait fetch('x');`,
      'src/http1/connections.ts': 'await Bun.connect(to);',
      'src/config.ts': 'const port = process.env.PORT;',
      'src/http/routes.ts': `import { Hono } from 'hono';\nimport type { BlockList } from 'node:net';\nif (shape === 'openai') go();`,
      'src/dialects/chat/gemini/reader.ts': `if (seal.dialect === 'gemini') go();`,
      'src/gateway/serve.test.ts': `await fetch('x');\nprocess.env.A = 'b';`,
      'src/gateway/serve.ts': `server.fetch(request);\nconst hint = 'select a model from the list';`,
    }),
  ).toEqual([]);
});

test('an import cycle is a fault, also inside a module and of types only', () => {
  const two = {
    'src/store/a.ts': `import { b } from './b.ts';`,
    'src/store/b.ts': `import type { A } from './a.ts';`,
  };
  expect(faultsOf(two)).toEqual(['-> src/store/b.ts -> src/store/a.ts: a cycle of imports']);
  const three = {
    'src/store/a.ts': `import { b } from './b.ts';\nimport { d } from './d.ts';`,
    'src/store/b.ts': `import { c } from './c.ts';`,
    'src/store/c.ts': `const a = await import('./a.ts');`,
    'src/store/d.ts': `export const d = 1;`,
  };
  expect(faultsOf(three)).toEqual(['-> src/store/b.ts -> src/store/c.ts -> src/store/a.ts: a cycle of imports']);
  expect(faultsOf({ ...three, 'src/store/c.ts': `import { d } from './d.ts';` })).toEqual([]);
  // A test may import a module as long as that does not import the test.
  expect(faultsOf({ ...three, 'src/store/c.ts': '', 'src/store/a.test.ts': `import { a } from './a.ts';` })).toEqual(
    [],
  );
});

test('a cycle of the console is a fault, whatever its files are called', () => {
  const page = {
    path: 'web/src/pages/keys/keys.tsx',
    text: `import { B } from './drawer.tsx';\nexport const A = <B />;`,
  };
  const drawer = (text: string) => ({ path: 'web/src/pages/keys/drawer.tsx', text });
  expect(cyclesOf([page, drawer(`import { A } from './keys.tsx';`)])).toEqual([
    expect.stringContaining('a cycle of imports'),
  ]);
  expect(cyclesOf([page, drawer(`import { C } from '../../parts/c.tsx';`)])).toEqual([]);
});

test('each of several cycles is reported once', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['a', 'x']],
    ['x', ['y']],
    ['y', ['z']],
    ['z', ['x']],
    ['self', ['self']],
  ]);
  expect(cyclesIn(imports)).toEqual([['a', 'b'], ['self'], ['x', 'y', 'z']]);
});
