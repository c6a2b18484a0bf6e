/** Who may ask for what with a session, over Postgres. `console-pages.test.ts` walks through the pages there. */
import { afterAll, test } from 'bun:test';
import { hasPostgres, testPostgres } from '../helpers/postgres.ts';

if (hasPostgres) {
  const { freshDatabase, dropDatabases } = await testPostgres();
  const database = await freshDatabase();
  process.env.CONSOLE_DATABASE = database;
  await import('../e2e/console-sessions.test.ts');
  delete process.env.CONSOLE_DATABASE;
  afterAll(() => dropDatabases([database]));
} else {
  test.skip('sessions of the console over Postgres', () => {});
}
