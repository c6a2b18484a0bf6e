/** The attack on the ledger (`storm.ts`) with SQLite. */
import { test } from 'bun:test';
import { ROUNDS, storm } from './storm.ts';

test('after each round of a storm every bill is exact', () => storm('SQLite'), 60_000 + ROUNDS * 150_000);
