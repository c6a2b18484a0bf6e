import { describe, expect, test } from 'bun:test';
import { leastVersionAfter, linesOf, type MigrationStep, textOf } from './migration-plan.ts';
import { LATER_STEPS as POSTGRES_STEPS } from './postgres/later-steps.ts';
import { LATER_STEPS as SQLITE_STEPS } from './sqlite/later-steps.ts';

/** Statements of a step that an earlier program could break on. */
function faultsOf(step: MigrationStep): string[] {
  if (leastVersionAfter([step]) > 0) return [];
  const text = textOf(step);
  const created = new Set([...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table));
  const required = [...text.matchAll(/ADD COLUMN \w+ [^;]*/g)].filter(
    ([column]) => column.includes('NOT NULL') && !column.includes('DEFAULT'),
  );
  const unique = [...text.matchAll(/CREATE UNIQUE INDEX \w+ ON (\w+)/g)].filter(([, table]) => !created.has(table));
  // No earlier program knows a table that the step creates, so its first rows cannot break one.
  const isFirstRow = (line: string) => created.has(/^INSERT INTO (\w+)/.exec(line)?.[1]);
  const others = linesOf(step).filter(
    (line) => !/^(CREATE |ALTER TABLE \w+ ADD COLUMN )/.test(line) && !isFirstRow(line),
  );
  return [...required, ...unique].map(([found]) => found).concat(others);
}

describe.each([
  ['SQLite', SQLITE_STEPS],
  ['Postgres', POSTGRES_STEPS],
])('%s', (_, steps) => {
  test('every step only adds, or names the oldest compatible program', () => {
    expect(steps.flatMap(faultsOf)).toEqual([]);
  });
});

test('what an earlier program could break on is found', () => {
  expect(faultsOf('ALTER TABLE calls ADD COLUMN a text NOT NULL;')).toHaveLength(1);
  expect(faultsOf('CREATE UNIQUE INDEX calls_by_a ON calls (a);')).toHaveLength(1);
  expect(faultsOf('CREATE TABLE a (b text);\nCREATE UNIQUE INDEX a_by_b ON a (b);')).toEqual([]);
  expect(faultsOf('ALTER TABLE calls DROP COLUMN a;')).toEqual(['ALTER TABLE calls DROP COLUMN a']);
  expect(faultsOf('UPDATE calls SET a = 1;')).toEqual(['UPDATE calls']);
  expect(faultsOf('CREATE TABLE a (b text);\nINSERT INTO calls (b) VALUES (1);')).toHaveLength(1);
  expect(faultsOf('CREATE TABLE a (b text);\nINSERT INTO a (b) SELECT id FROM calls;')).toEqual([]);
  expect(faultsOf({ text: 'ALTER TABLE calls DROP COLUMN a;', minimum: 7 })).toEqual([]);
});

test('a step is shown by the beginnings of its statements', () => {
  const step = `
  -- Tags.
  ALTER TABLE calls ADD COLUMN receipt text COLLATE "C";
  CREATE TABLE call_tags (
    tag text NOT NULL
  );
  CREATE UNIQUE INDEX call_tags_by_time ON call_tags (tag);
  `;
  expect(linesOf(step)).toEqual([
    'ALTER TABLE calls ADD COLUMN receipt',
    'CREATE TABLE call_tags',
    'CREATE UNIQUE INDEX call_tags_by_time',
  ]);
});
