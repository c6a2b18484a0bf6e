import { expect, test } from 'bun:test';
import { HOUR_MS, MINUTE_MS } from '../canonical/time.ts';
import { createRepricings } from './repricing.ts';

/** Reports over a store without calls, whose reading takes as long as the test wants. */
function slowly() {
  const clock = { now: 1_795_000_000_000 };
  let reads = 0;
  let read = Promise.withResolvers<never[]>();
  const repricings = createRepricings({
    store: {
      usage: () => Promise.resolve([]),
      price: () => Promise.resolve(undefined),
      billedCalls: () => {
        reads++;
        return read.promise;
      },
    },
    readPrice: () => ({}),
    now: () => clock.now,
  });
  const ask = () => repricings.ask({ fingerprint: 'f', days: 1, prices: new Map([['m', {}]]) }, 1);
  const finish = async () => {
    read.resolve([]);
    await repricings.ask({ fingerprint: 'f', days: 1, prices: new Map([['m', {}]]) }, 60_000);
    read = Promise.withResolvers();
  };
  return { clock, ask, finish, reads: () => reads };
}

test('a report that takes longer than reports are kept is not begun again, and is kept from its end', async () => {
  const { clock, ask, finish, reads } = slowly();
  expect(await ask()).toMatchObject({ done: 0 });
  clock.now += HOUR_MS;
  expect(await ask()).toMatchObject({ done: 0 });
  await finish();
  clock.now += 9 * MINUTE_MS;
  expect(await ask()).toMatchObject({ calls: 0, skipped: 0 });
  expect(reads()).toBe(1);
  clock.now += 2 * MINUTE_MS;
  expect(await ask()).toMatchObject({ done: 0 });
  expect(reads()).toBe(2);
});
