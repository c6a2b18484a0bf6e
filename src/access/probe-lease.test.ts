import { describe, expect, test } from 'bun:test';
import { forTests } from '../../test/helpers/for-tests.ts';
import { hasRedis, startRedis } from '../../test/helpers/redis-server.ts';
import { createProbeLease } from './probe-lease.ts';

describe.skipIf(!hasRedis)('a lease in Redis', () => {
  const redis = forTests(startRedis, (server) => server.stop());

  test('of several processes one gets a target’s probe, until its time is over', async () => {
    const [one, other] = [createProbeLease(redis.url, 'm:', 5000), createProbeLease(redis.url, 'm:', 5000)];
    const taken = await Promise.all([one, other, one, other].map((lease) => lease.take('p/m', 60_000)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await other.take('p/other', 60_000)).toBe(true);
    expect(Number(await redis.command('PTTL', 'm:probe:p/m'))).toBeGreaterThan(0);
    await redis.command('DEL', 'm:probe:p/m');
    expect(await other.take('p/m', 60_000)).toBe(true);
    one.close();
    other.close();
  });
});

test('where Redis does not answer each process probes for itself', async () => {
  const lease = createProbeLease('redis://127.0.0.1:1', 'm:', 200);
  expect(await lease.take('p/m', 1000)).toBe(true);
  lease.close();
});
