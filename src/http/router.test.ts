import { expect, test } from 'bun:test';
import { createRouter } from './router.ts';

test('a parameter is decoded unless it cannot be, or holds NUL, which Postgres takes in no text', () => {
  const router = createRouter<string>();
  router.add('GET', '/things/:id', 'thing');
  const idOf = (path: string) => router.match('GET', path)[0]?.parameters.id;
  expect(['/things/a%5Fb', '/things/%ff', '/things/a%00b'].map(idOf)).toEqual(['a_b', '%ff', 'a%00b']);
});
