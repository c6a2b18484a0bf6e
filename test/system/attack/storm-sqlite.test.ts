/** The standing attack on the money (`storm.ts`), on SQLite. */
import { test } from 'bun:test';
import { ROUNDS, storm } from './storm.ts';

test('every bill is right after each round of a storm', () => storm('SQLite'), 60_000 + ROUNDS * 150_000);
