/** Four busy processes and one Redis: how many calls are admitted, and whether disconnecting clients occupy places. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { ofLoad } from '../helpers/property.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';

const WINDOW_MS = 60_000;
/**
 * A part of the minute that the limit is for: the load fills both processors. How minutes roll on is tested by a clock of its own in
 * limits-model.test.ts; the nightly run, with `MODELPORT_TEST_THOROUGH=1`, loads beyond the minute.
 */
const LOAD_MS = ofLoad(WINDOW_MS + 6000, 8000);
const LIMIT = 60;
/** Blocks a process's event loop: a body of this many characters to read, estimate and write. */
const HEAVY = 6_000_000;
/** Shorter than the event loops are blocked, longer than Redis waits for a processor on a busy machine. */
const REDIS_TIMEOUT_MS = '400';
/** How often Redis may really be late. Blocked event loops alone once made it 68. */
const MOST_LATE = 3;

describe.skipIf(!hasRedis)('four busy processes and one Redis', () => {
  let redis: RedisServer;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    redis = await startRedis();
    const environment = {
      REDIS_URL: redis.url,
      MODELPORT_PROCESSES: '4',
      MODELPORT_REDIS_TIMEOUT_MS: REDIS_TIMEOUT_MS,
    };
    gateway = await startGateway({ environment });
  }, 60_000);
  afterAll(async () => {
    expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
    await gateway.stop();
    await redis.stop();
  }, 60_000);

  /** Each call uses its own connection, so that all processes get some. */
  function call(key: string, content: string, more: object = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      keepalive: false,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'sandbox-chat', max_tokens: 5, messages: [{ role: 'user', content }], ...more }),
      ...(signal && { signal }),
    });
  }
  async function newKey(limits: object): Promise<string> {
    const { account } = await gateway.newCaller('1000.00');
    return (await gateway.admin<{ key: string }>('POST', '/keys', { account, name: 'limited', ...limits })).key;
  }
  /** Runs `work` in this many loops while the processes are busy, for this time. */
  async function underLoad(ms: number, loops: number, work: () => Promise<void>): Promise<void> {
    const free = await newKey({});
    const heavy = 'word '.repeat(HEAVY / 5);
    const end = performance.now() + ms;
    const loop = async (one: () => Promise<unknown>) => {
      while (performance.now() < end) await one().catch(() => undefined);
    };
    const busy = () => call(free, heavy).then((answer) => answer.text());
    await Promise.all([
      ...Array.from({ length: 6 }, () => loop(busy)),
      ...Array.from({ length: loops }, () => loop(work)),
    ]);
  }

  test('in a minute at most the limit plus five percent is admitted', async () => {
    const key = await newKey({ requestsPerMinute: LIMIT });
    const letIn: number[] = [];
    let requestCount = 0;
    const others: number[] = [];
    await underLoad(LOAD_MS, 12, async () => {
      requestCount++;
      const answer = await call(key, 'hello');
      await answer.text();
      if (answer.status === 200) letIn.push(performance.now());
      else if (answer.status !== 429) others.push(answer.status);
    });
    const most = Math.max(...letIn.map((from) => letIn.filter((at) => at >= from && at < from + WINDOW_MS).length));
    console.log(`${requestCount} asked, ${letIn.length} let in, ${most} within one minute`);
    expect(others).toEqual([]);
    expect(most).toBeLessThanOrEqual(LIMIT * 1.05);
    expect(letIn.length).toBeGreaterThanOrEqual(LIMIT);
    expect(gateway.log().split('Redis does not answer').length - 1).toBeLessThanOrEqual(MOST_LATE);
  }, 180_000);

  test('clients that disconnect at any moment free their places', async () => {
    const key = await newKey({ concurrency: 3 });
    let leaveAfterMs = 0;
    await underLoad(ofLoad(6000, 4000), 6, async () => {
      leaveAfterMs = (leaveAfterMs + 7) % 300;
      const signal = AbortSignal.timeout(leaveAfterMs + 1);
      const answer = await call(key, '[[delay 2000]] hello', { stream: leaveAfterMs % 2 === 0 }, signal);
      await answer.text();
    });
    // Half of the time after which a lost place would return by its lease.
    const deadline = performance.now() + 15_000;
    let statuses: number[] = [];
    while (performance.now() < deadline && statuses.filter((status) => status === 200).length < 3) {
      const answers = await Promise.all([1, 2, 3].map(() => call(key, '[[delay 300]] hello')));
      statuses = await Promise.all(answers.map((answer) => answer.text().then(() => answer.status)));
    }
    expect(statuses).toEqual([200, 200, 200]);
  }, 60_000);
});
