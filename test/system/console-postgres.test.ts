/** The short walk through the console, and who may ask for what with a session, over Postgres. */
import { afterAll, test } from 'bun:test';
import { hasPostgres, testPostgres } from '../helpers/postgres.ts';

if (hasPostgres) {
  const { freshDatabase, dropDatabases } = await testPostgres();
  const database = await freshDatabase();
  process.env.CONSOLE_WALK_DATABASE = database;
  await import('../e2e/console.test.ts');
  delete process.env.CONSOLE_WALK_DATABASE;
  afterAll(() => dropDatabases([database]));
} else {
  test.skip('the console over Postgres', () => {});
}
