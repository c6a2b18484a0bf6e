import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasRedis, type RedisServer, startRedis } from '../../test/helpers/redis-server.ts';
import { createRedisLink } from './redis-link.ts';

const COUNT = `return redis.call('INCRBY', KEYS[1], ARGV[1])`;
const WRONG = `return redis.call('INCRBY', KEYS[1], 'many')`;

describe.skipIf(!hasRedis)('scripts of one turn', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test('run in their order, also where Redis does not know the script, and one that fails is its own', async () => {
    const link = createRedisLink(redis.url);
    try {
      for (const from of [0, 60]) {
        const first = [1, 2, 3].map((by) => link.run(COUNT, () => ({ keys: ['n'], args: [String(by * 10)] })));
        const wrong = link.run(WRONG, () => ({ keys: ['n'], args: [] }));
        const answers = await Promise.allSettled([
          ...first,
          wrong,
          link.run('return 5', () => ({ keys: [], args: [] })),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([
          ...['fulfilled', 'fulfilled', 'fulfilled'],
          'rejected',
          'fulfilled',
        ] as (typeof answers)[number]['status'][]);
        const counts = answers.slice(0, 3).map((answer) => (answer.status === 'fulfilled' ? Number(answer.value) : 0));
        expect(counts).toEqual([from + 10, from + 30, from + 60]);
        if (from === 0) await redis.command('SCRIPT', 'FLUSH');
      }
    } finally {
      link.close();
    }
  });

  test('a script that waits when the connection is closed is rejected, and none is opened for it', async () => {
    const link = createRedisLink(redis.url);
    const before = await redis.command('INFO', 'stats');
    const waiting = link.run(COUNT, () => ({ keys: ['closed'], args: ['1'] }));
    link.close();
    await expect(waiting).rejects.toThrow('closed');
    await new Promise((resolve) => setImmediate(resolve));
    const connections = (info: unknown) => Number(/total_connections_received:(\d+)/.exec(String(info))?.[1]);
    // The command itself may take one connection.
    expect(connections(await redis.command('INFO', 'stats')) - connections(before)).toBeLessThanOrEqual(1);
    expect(await redis.command('EXISTS', 'closed')).toBe(0);
  });
});
