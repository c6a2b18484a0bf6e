/** A thousand concurrent calls against every limit: exactly the allowed ones succeed, in one process and over two with Redis. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { nanoOf } from '../helpers/scene.ts';

const CALLS = 1000;
/** Longer than a thousand refusals take: no admitted call ends before the last refusal. */
const SLOW = '[[delay 25000]] hello';

const request = (content: string, stream = false) => ({
  model: 'sandbox-chat',
  max_tokens: 5,
  stream,
  messages: [{ role: 'user', content }],
});

function call(gateway: GatewayProcess, key: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

interface NewKey {
  id: string;
  key: string;
}

async function newKey(gateway: GatewayProcess, limits: object): Promise<NewKey & { account: string }> {
  const { account } = await gateway.newCaller('100.00');
  const made = await gateway.admin<NewKey>('POST', '/keys', { account, name: 'limited', ...limits });
  return { ...made, account };
}

/** The last refusals may arrive together. */
const QUIET_MS = 500;

/**
 * How many of a thousand calls succeed, and the errors of the others. Calls still running when all but `passing` are answered count as
 * successful; if there are more, their answers are awaited.
 */
async function crowd(gateways: readonly GatewayProcess[], key: string, body: object, passing: number) {
  const abort = new AbortController();
  const statuses = new Map<number, number>([[200, 0]]);
  let answered = 0;
  const answers = Array.from({ length: CALLS }, (_, index) =>
    call(gateways[index % gateways.length]!, key, body, abort.signal).then(
      ({ status }) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        answered++;
      },
      () => {},
    ),
  );
  while (answered < CALLS - passing) await Bun.sleep(20);
  await Bun.sleep(QUIET_MS);
  statuses.set(200, (statuses.get(200) ?? 0) + CALLS - answered);
  const seen = Object.fromEntries(statuses);
  abort.abort();
  await Promise.all(answers);
  return seen;
}

/** What one such call reserves: its tokens, and its money while it runs. */
async function costOfOne(gateway: GatewayProcess): Promise<{ tokens: number; quote: bigint }> {
  const { key, account } = await newKey(gateway, { tokensPerMinute: 1_000_000 });
  const quick = await call(gateway, key, request('[[delay 1]] hello padded'.slice(0, SLOW.length)));
  const tokens = 1_000_000 - Number(quick.headers.get('x-ratelimit-remaining-tokens'));
  const running = call(gateway, key, request('[[delay 3000]] hello '.slice(0, SLOW.length)));
  let held = '0';
  while (held === '0') held = (await gateway.balance({ account, key })).held;
  await (await running).text();
  return { tokens, quote: nanoOf(held) };
}

function suite(gateways: () => readonly GatewayProcess[]): void {
  const first = () => gateways()[0]!;

  test('requests per minute', async () => {
    const { key } = await newKey(first(), { requestsPerMinute: 100 });
    expect(await crowd(gateways(), key, request('hi'), 0)).toEqual({ 200: 100, 429: 900 });
    const refused = await call(first(), key, request('hi'));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('100');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  }, 60_000);

  test('tokens per minute, reserved before the call', async () => {
    const { tokens } = await costOfOne(first());
    const { key } = await newKey(first(), { tokensPerMinute: tokens * 23 + 1 });
    expect(await crowd(gateways(), key, request(SLOW), 23)).toEqual({ 200: 23, 429: 977 });
  }, 60_000);

  test('concurrent calls', async () => {
    const { key } = await newKey(first(), { concurrency: 40 });
    expect(await crowd(gateways(), key, request(SLOW), 40)).toEqual({ 200: 40, 429: 960 });
  }, 60_000);

  test.each(['key', 'account'])(
    'the budget of the %s',
    async (of) => {
      const { quote } = await costOfOne(first());
      const enough = quote * 37n + quote / 2n;
      const budget = `0.${enough.toString().padStart(9, '0')}`;
      const { key, account } = await newKey(first(), of === 'key' ? { budget } : {});
      if (of === 'account') await first().admin('PATCH', `/accounts/${account}`, { budget: { day: budget } });
      expect(await crowd(gateways(), key, request(SLOW), 37)).toEqual({ 200: 37, 402: 963 });
    },
    60_000,
  );

  test('places of disconnected clients are free again', async () => {
    const caller = await newKey(first(), { concurrency: 5 });
    const { key } = caller;
    const until = async (isSo: (held: string) => boolean) => {
      for (const end = performance.now() + 20_000; performance.now() < end; await Bun.sleep(20))
        if (isSo((await first().balance(caller)).held)) return;
    };
    for (let round = 0; round < 3; round++) {
      const abort = new AbortController();
      const left = Array.from({ length: 5 }, () =>
        call(first(), key, request(SLOW, true), abort.signal).catch(() => undefined),
      );
      await until((held) => held !== '0');
      abort.abort();
      await Promise.all(left);
      await until((held) => held === '0');
    }
    const again = await Promise.all(Array.from({ length: 5 }, () => call(first(), key, request('hi'))));
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  }, 60_000);
}

describe('one process', () => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await startGateway();
  }, 60_000);
  afterAll(async () => {
    expect(await gateway.verify()).toMatchObject({ ok: true });
    await gateway.stop();
  }, 60_000);

  suite(() => [gateway]);

  test('the errors have the messages format', async () => {
    const { key } = await newKey(gateway, { requestsPerMinute: 1 });
    const ask = () =>
      fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
        body: JSON.stringify(request('hi')),
      });
    const passed = await ask();
    expect(passed.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0');
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('anthropic-ratelimit-requests-limit')).toBe('1');
    expect(Date.parse(refused.headers.get('anthropic-ratelimit-requests-reset') ?? '')).toBeGreaterThan(Date.now());
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  });

  test('scopes and disabled accounts are refused before the call', async () => {
    const { key, account } = await newKey(gateway, { scopes: ['embeddings'] });
    expect(await (await call(gateway, key, request('hi'))).json()).toMatchObject({
      error: { code: 'scope_not_allowed' },
    });
    await gateway.admin('POST', `/accounts/${account}/disable`);
    expect(await (await call(gateway, key, request('hi'))).json()).toMatchObject({ error: { code: 'key_disabled' } });
  });
});

describe.skipIf(!hasRedis)('two processes with Redis', () => {
  let redis: RedisServer;
  let one: GatewayProcess;
  let other: GatewayProcess;
  beforeAll(async () => {
    redis = await startRedis();
    // On a busy machine Redis may answer late; that must not make this a test without Redis.
    const environment = { REDIS_URL: redis.url, MODELPORT_REDIS_TIMEOUT_MS: '5000' };
    one = await startGateway({ environment });
    other = await startGateway({ environment, dataFolder: one.dataFolder });
  }, 60_000);
  afterAll(async () => {
    await other.stop('keep');
    await one.stop();
    await redis.stop();
  }, 60_000);

  suite(() => [one, other]);

  test('calls continue when Redis is stopped and started again', async () => {
    const { key } = await newKey(one, { requestsPerMinute: 1000 });
    await redis.kill();
    for (const gateway of [one, other, one]) expect((await call(gateway, key, request('hi'))).status).toBe(200);
    await redis.restart();
    await one.printed('Redis does not answer: this process enforces its part of the limits by itself.');
    const deadline = performance.now() + 20_000;
    while (!one.log().includes('Redis answers again') && performance.now() < deadline) {
      expect((await call(one, key, request('hi'))).status).toBe(200);
      await Bun.sleep(200);
    }
    await one.printed('Redis answers again');
  }, 60_000);
});
