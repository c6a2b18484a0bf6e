/** The attack on the ledger (`storm.ts`) with Postgres. */
import { test } from 'bun:test';
import { hasPostgres } from '../../helpers/postgres.ts';
import { ROUNDS, storm } from './storm.ts';

test.skipIf(!hasPostgres)(
  'after each round of a storm every bill is exact',
  () => storm('Postgres'),
  60_000 + ROUNDS * 150_000,
);
