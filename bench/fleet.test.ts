import { expect, test } from 'bun:test';
import { SETUPS, writeFleet } from './fleet.ts';
import { PEERS } from './peers.ts';

test('each setup names a gateway of the bench, and one, two and four processes are compared', () => {
  for (const { peer } of SETUPS) expect(PEERS.map(({ name }) => name)).toContain(peer);
  expect(SETUPS.filter(({ peer }) => peer === 'modelport').map(({ processes }) => processes)).toEqual([1, 2, 4]);
});

test('the table has a line for each setup', () => {
  const row = {
    title: '1 process, SQLite',
    requestsPerSecond: 5000.4,
    cpuPerRequestUs: 200.2,
    memoryMb: 100.6,
    failures: 0,
  };
  expect(writeFleet([row]).split('\n').at(-1)).toBe('| 1 process, SQLite | 5000 | 200 | 101 | 0 |');
});
