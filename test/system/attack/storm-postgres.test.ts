/** The standing attack on the money (`storm.ts`), on Postgres. */
import { test } from 'bun:test';
import { hasPostgres } from '../../postgres.ts';
import { ROUNDS, storm } from './storm.ts';

test.skipIf(!hasPostgres)(
  'every bill is right after each round of a storm',
  () => storm('Postgres'),
  60_000 + ROUNDS * 150_000,
);
