import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { createThrottle, networkOf } from './throttle.ts';

describe.each(ENGINES)('guessing on $name', (engine) => {
  test('waits get longer, end, and concern the name at this address; a right attempt ends them', async () => {
    let now = Date.UTC(2026, 4, 5, 12);
    const { people } = (await freshStore(engine)).store;
    const throttle = createThrottle(people, () => now);
    const waits = async (name: string, address = '127.0.0.1') =>
      throttle.attempt(name, address).then(
        () => 0,
        (thrown) => Number(thrown.retryAfterSeconds),
      );
    for (let i = 0; i < 5; i++) expect(await waits('ann')).toBe(0);
    expect(await waits('ann')).toBe(5);
    expect(await waits('ann', '127.0.0.2')).toBe(0);
    expect(await waits('bob')).toBe(0);
    now += 5000;
    expect(await waits('ann')).toBe(0);
    expect(await waits('ann')).toBe(10);
    await throttle.succeeded('ann', '127.0.0.1');
    expect(await waits('ann')).toBe(0);
    now += 16 * 60_000;
    for (let i = 0; i < 5; i++) expect(await waits('ann')).toBe(0);
  });
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
  ['::ffff:7f00:1', '::ffff:7f00:1'],
  ['::1', '::1'],
  ['fd00:5:1:2:a:b:c:d', 'fd00:5:1:2'],
  ['fd00:5:1:2::d', 'fd00:5:1:2'],
  ['fd00:5::a:b:c:d', 'fd00:5:0:0'],
  ['fd00:5::d', 'fd00:5:0:0'],
  ['fd00:5:0:0:1::', 'fd00:5:0:0'],
  ['fd00:5:1::a:b:c:d', 'fd00:5:1:0'],
])('%s is of the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
