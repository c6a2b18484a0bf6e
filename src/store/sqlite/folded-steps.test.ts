import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { statementsOf, textOf } from '../migration-plan.ts';
import { foldedStatements } from './folded-steps.ts';
import { STEPS } from './migrations.ts';

/** The whole schema and all rows. */
function contentsOf(statements: readonly string[]): unknown {
  using db = new Database(':memory:');
  for (const statement of statements) db.run(statement);
  const schema = db.query<{ type: string; name: string; sql: string | null }, []>(
    'SELECT type, name, sql FROM sqlite_schema ORDER BY type, name',
  );
  return schema.all().map(({ type, name, sql }) => ({
    name,
    // SQLite keeps the blanks of the text.
    sql: sql?.replace(/\s+/g, ' ').replace(/ (?=[,)])/g, ''),
    columns: db.query(`SELECT * FROM pragma_table_xinfo('${name}')`).all(),
    rows: type === 'table' ? db.query(`SELECT * FROM "${name}"`).all() : [],
  }));
}

test.each([STEPS.length, 12])('the first %d steps make the same database when columns are folded', (count) => {
  const steps = STEPS.slice(0, count);
  expect(contentsOf(foldedStatements(steps.flatMap(statementsOf)))).toEqual(contentsOf(steps.map(textOf)));
});

test('nearly all columns are created with their table', () => {
  const added = (statements: readonly string[]) => statements.filter((one) => one.startsWith('ALTER TABLE'));
  const statements = STEPS.flatMap(statementsOf);
  expect(added(foldedStatements(statements)).length).toBeLessThan(added(statements).length / 5);
});

test('a column is not moved before rows that are inserted by position', () => {
  const statements = ['CREATE TABLE a (x TEXT)', "INSERT INTO a VALUES ('1')", 'ALTER TABLE a ADD COLUMN y TEXT'];
  expect(foldedStatements(statements)).toEqual(statements);
});
