/** Shared limits with a real Redis that is killed, paused and restarted during calls. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { forTests } from '../../test/helpers/for-tests.ts';
import { hasRedis, startRedis } from '../../test/helpers/redis-server.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Pace } from '../store/rows.ts';
import type { Admitted, Limits, Paced } from './limits.ts';
import { createSharedLimits, type SharedLimitsSettings } from './shared-limits.ts';

/** While Redis is frozen or killed. */
const TIMEOUT_MS = 500;
/** Otherwise: a Redis that gets no processor time for a second is not away. */
const PATIENT_MS = 10_000;

describe.skipIf(!hasRedis)('limits in Redis', () => {
  const redis = forTests(startRedis, (server) => server.stop());
  let opened: Limits[] = [];
  let changes: boolean[] = [];
  let keys = 0;
  let calls = 0;
  let timeoutMs = PATIENT_MS;
  beforeEach(() => {
    changes = [];
    timeoutMs = PATIENT_MS;
  });
  function freeze(): void {
    redis.freeze();
    timeoutMs = TIMEOUT_MS;
  }
  function thaw(): void {
    redis.thaw();
    timeoutMs = PATIENT_MS;
  }
  function kill(): Promise<void> {
    timeoutMs = TIMEOUT_MS;
    return redis.kill();
  }
  afterEach(() => {
    thaw();
    for (const limits of opened) limits.close();
    opened = [];
  });

  /** The limits as one process opens them. */
  function open(more: Partial<SharedLimitsSettings> = {}): Limits {
    const changed = (isUp: boolean) => void changes.push(isUp);
    const limits = createSharedLimits({
      url: redis.url,
      prefix: 't:',
      get timeoutMs() {
        return timeoutMs;
      },
      whenDown: 'open',
      changed,
      ...more,
    });
    opened.push(limits);
    return limits;
  }
  const newKey = (pace: Pace): Paced => ({ id: `key_${++keys}`, of: 'key', ...pace });
  const ask = (paced: Paced, tokens = 0) => ({ callId: `call_${++calls}`, paced: [paced], tokens });
  /** Admits a call, or returns the error. */
  async function admit(limits: Limits, paced: Paced, tokens = 0): Promise<Admitted | GatewayError> {
    try {
      return await limits.admit(ask(paced, tokens));
    } catch (thrown) {
      if (thrown instanceof GatewayError) return thrown;
      throw thrown;
    }
  }
  const isAdmitted = (answer: Admitted | GatewayError): answer is Admitted => !(answer instanceof GatewayError);
  const ended = (admitted: Admitted | GatewayError, used = 0) => isAdmitted(admitted) && admitted.end(used);

  test.each([
    ['requests', { requestsPerMinute: 100 }, 0, 100],
    ['tokens', { tokensPerMinute: 1000 }, 13, 76],
    ['calls at once', { concurrency: 40 }, 0, 40],
  ])('a thousand concurrent calls over two processes stay within the limit: %s', async (_, pace, tokens, allowed) => {
    const processes = [open(), open()];
    const key = newKey(pace);
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, i) => admit(processes[i % 2]!, key, tokens)));
    expect(answers.filter(isAdmitted)).toHaveLength(allowed);
    for (const refused of answers.filter((answer) => !isAdmitted(answer)))
      expect(refused).toMatchObject({ status: 429 });
  });

  test('admissions and ends of one turn share a script call', async () => {
    let scripts = 0;
    const limits = open({ beatMs: 60_000, leaseSeconds: 240, answered: () => void scripts++ });
    const keys = [newKey({ concurrency: 100 }), newKey({ requestsPerMinute: 100 })];
    const crowd = () => Promise.all(Array.from({ length: 20 }, (_, i) => admit(limits, keys[i % 2]!)));
    const first = await crowd();
    expect(await callsOf(keys[0]!)).toBe(10);
    scripts = 0;
    for (const admitted of first) ended(admitted);
    await crowd();
    expect(scripts).toBe(1);
    expect(await callsOf(keys[0]!)).toBe(10);
  });

  test('the allowance is reported, and tokens are corrected when the call ends', async () => {
    const [one, other] = [open(), open()];
    const key = newKey({ requestsPerMinute: 9, tokensPerMinute: 1000 });
    const first = await admit(one, key, 900);
    expect(first).toMatchObject({
      limits: { requests: { limit: 9, remaining: 8 }, tokens: { limit: 1000, remaining: 100, resetSeconds: 61 } },
    });
    expect(await admit(other, key, 200)).toMatchObject({
      code: 'rate_limited',
      rateLimits: { tokens: { remaining: 100 } },
    });
    ended(first, 50);
    await admit(one, newKey({ concurrency: 1 }));
    expect(await admit(other, key, 200)).toMatchObject({ limits: { tokens: { remaining: 750 } } });
  });

  test('places are free again when calls ended, and when their process was killed', async () => {
    let aheadMs = 0;
    const settings = { leaseSeconds: 10, beatMs: 20, clock: () => performance.now() + aheadMs };
    const [one, other] = [open(settings), open(settings)];
    const key = newKey({ concurrency: 2 });
    const first = await admit(one, key);
    expect(isAdmitted(await admit(one, key))).toBe(true);
    expect(await admit(other, key)).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    ended(first);
    await admit(one, newKey({ concurrency: 1 }));
    const third = await admit(other, key);
    expect(isAdmitted(third)).toBe(true);
    // The first process ends without notice: its lease expires, the lease of the other is renewed.
    one.close();
    const longestLease = async () =>
      String(await redis.command('ZRANGE', `t:limits:${key.id}:calls`, '-1', '-1', 'WITHSCORES'));
    for (let passed = 0; passed < 12; passed += 3) {
      const before = await longestLease();
      aheadMs += 3000;
      await until(async () => (await longestLease()) !== before, 'the lease was not renewed');
    }
    expect(isAdmitted(await admit(other, key))).toBe(true);
    expect(isAdmitted(await admit(other, key))).toBe(false);
  }, 60_000);

  test('with a frozen Redis calls wait for the time limit, then the process counts alone, then Redis counts again', async () => {
    const limits = open();
    const key = newKey({ requestsPerMinute: 5 });
    await admit(limits, key);
    freeze();
    const started = performance.now();
    const second = await admit(limits, key);
    expect(isAdmitted(second)).toBe(true);
    expect(performance.now() - started).toBeGreaterThan(TIMEOUT_MS - 20);
    // Now none waits for Redis.
    timeoutMs = 3_600_000;
    const answers = await Promise.all(Array.from({ length: 10 }, () => admit(limits, key)));
    // Two of five were admitted before: this process also counts locally.
    expect(answers.filter(isAdmitted)).toHaveLength(3);
    expect(changes).toEqual([false]);
    thaw();
    await backUp(limits, newKey({ requestsPerMinute: 100_000 }));
    // Redis has received the calls that were admitted without it.
    expect(await admit(open(), key)).toMatchObject({
      code: 'rate_limited',
      rateLimits: { requests: { remaining: 0 } },
    });
    expect(changes).toEqual([false, true]);
  }, 60_000);

  test('a blocked event loop does not count as an outage of Redis', async () => {
    // Without heartbeats: they wait outside of these rounds, too.
    const limits = open({ beatMs: 60_000, leaseSeconds: 240 });
    const key = newKey({ requestsPerMinute: 50 });
    await admit(limits, key);
    timeoutMs = 100;
    for (let round = 0; round < 3; round++) {
      redis.freeze();
      const admitting = admit(limits, key);
      await Bun.sleep(10);
      // The answer arrives while the process cannot read it.
      redis.thaw();
      Bun.sleepSync(400);
      // Redis answers one after the other, so it has answered the admission.
      spawnSync('redis-cli', ['-u', redis.url, 'PING']);
      expect(await admitting).toMatchObject({ limits: { requests: { remaining: 48 - round } } });
    }
    expect(changes).toEqual([]);
  });

  test('places are returned for calls that ended while Redis was away and for calls it admitted too late', async () => {
    const limits = open();
    const key = newKey({ concurrency: 3 });
    const first = await admit(limits, key);
    freeze();
    // Redis admits this call when it continues; the process does not wait for it.
    const second = await admit(limits, key);
    expect(isAdmitted(second)).toBe(true);
    ended(first);
    ended(second);
    // Refused without Redis, which may admit it later.
    await admit(limits, newKey({ concurrency: 0 }));
    expect(changes).toEqual([false]);
    thaw();
    await backUp(limits, newKey({ requestsPerMinute: 100_000 }));
    await untilFree(key);
    const other = open();
    for (const expected of [true, true, true, false]) expect(isAdmitted(await admit(other, key))).toBe(expected);
  }, 60_000);

  test('a call that was refused while Redis was slow keeps no place when Redis admits it later', async () => {
    const limits = open({ whenDown: 'closed' });
    const key = newKey({ concurrency: 2 });
    await admit(limits, newKey({ concurrency: 1 }));
    freeze();
    const refused = await Promise.all([admit(limits, key), admit(limits, key)]);
    expect(refused.map(isAdmitted)).toEqual([false, false]);
    thaw();
    await backUp(limits, newKey({ requestsPerMinute: 100_000 }));
    await untilFree(key);
  }, 60_000);

  test.each([
    ['nothing before', []],
    ['all of it by one of them', [60, 0, 0, 0]],
    ['some of it unevenly', [20, 3, 11, 0]],
  ])(
    'without Redis four processes together admit no more than the limit: %s',
    async (_, earlier) => {
      const heard = [0, 0, 0, 0];
      const processes = heard.map((_, i) => open({ leaseSeconds: 1, answered: () => void heard[i]!++ }));
      for (const limits of processes) limits.start();
      await untilPresent(4);
      // Each process reads the list again: a heartbeat begins when the one before has been answered.
      const before = [...heard];
      await until(async () => heard.every((count, i) => count >= before[i]! + 2), 'a process has no heartbeat');
      const key = newKey({ requestsPerMinute: 60, tokensPerMinute: 7000 });
      const busy = newKey({ requestsPerMinute: 100_000 });
      let letIn = 0;
      const crowd = async (limits: Limits, calls: number) => {
        const answers = await Promise.all(Array.from({ length: calls }, () => admit(limits, key, 100)));
        letIn += answers.filter(isAdmitted).length;
      };
      for (const [i, calls] of earlier.entries()) await crowd(processes[i]!, calls);
      // Each process knows how much is left.
      for (const limits of processes)
        await crowd(limits, 0).then(() => admit(limits, { ...key, requestsPerMinute: 0 }));
      expect(letIn).toBe(earlier.reduce((sum, calls) => sum + calls, 0));
      await kill();
      await Promise.all(processes.map((limits) => crowd(limits, 100)));
      expect(letIn).toBe(60);
      await redis.restart();
      for (const limits of processes) await untilCounted(limits, busy);
      timeoutMs = PATIENT_MS;
      // Each process reports to the empty Redis what it admitted.
      await Promise.all(processes.map((limits) => crowd(limits, 100)));
      expect(letIn).toBe(60);
    },
    60_000,
  );

  test('a clock that jumps an hour ahead and back blocks no call for that hour', async () => {
    let wrongMs = 0;
    const limits = open({ clock: () => performance.now() + wrongMs });
    const other = open();
    const key = newKey({ requestsPerMinute: 5 });
    await Promise.all([admit(limits, key), admit(other, key)]);
    wrongMs = 3_600_000;
    for (let i = 0; i < 5; i++) expect(isAdmitted(await admit(limits, key))).toBe(true);
    wrongMs = 0;
    // Wherever the clock was, the minute is over after a minute.
    for (const one of [other, limits]) expect(await admit(one, key)).toMatchObject({ code: 'rate_limited' });
    wrongMs = 61_500;
    expect(isAdmitted(await admit(limits, key))).toBe(true);
    expect(isAdmitted(await admit(other, key))).toBe(true);
  });

  test('with `closed` limited calls are refused at once while Redis is away', async () => {
    const limits = open({ whenDown: 'closed' });
    const key = newKey({ concurrency: 5 });
    expect(isAdmitted(await admit(limits, key))).toBe(true);
    await kill();
    for (let i = 0; i < 3; i++) {
      expect(await admit(limits, key)).toMatchObject({
        code: 'upstream_unavailable',
        status: 503,
        retryAfterSeconds: 1,
      });
    }
    await redis.restart();
    await backUp(limits, key);
    expect(changes).toEqual([false, true]);
  }, 60_000);

  test('when Redis is killed and restarted under load, no call waits long or is lost, and active calls count again', async () => {
    const limits = open();
    const key = newKey({ concurrency: 3 });
    const running = await admit(limits, key);
    const busy = newKey({ requestsPerMinute: 1_000_000 });
    let longestMs = 0;
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const started = performance.now();
          const answer = await admit(limits, busy, 1);
          longestMs = Math.max(longestMs, performance.now() - started);
          expect(isAdmitted(answer)).toBe(true);
          ended(answer);
          await Bun.sleep(2);
        }
      }),
    );
    await Bun.sleep(200);
    await kill();
    await Bun.sleep(500);
    const meanwhile = await admit(limits, key);
    expect(isAdmitted(meanwhile)).toBe(true);
    await redis.restart();
    await backUp(limits, busy);
    isOver = true;
    await load;
    expect(longestMs).toBeLessThan(5000);
    // Both calls still run and the new Redis knows them again, so one place is left.
    expect(isAdmitted(await admit(limits, key))).toBe(true);
    expect(isAdmitted(await admit(limits, key))).toBe(false);
    ended(running);
    ended(meanwhile);
  }, 60_000);

  test('a Redis that is not reachable at the start is used when it comes up', async () => {
    await kill();
    const limits = open();
    const key = newKey({ requestsPerMinute: 2 });
    for (const expected of [true, true, false]) expect(isAdmitted(await admit(limits, key))).toBe(expected);
    await redis.restart();
    await backUp(limits, newKey({ requestsPerMinute: 100_000 }));
  }, 60_000);

  const callsOf = ({ id }: Paced) => redis.command('ZCARD', `t:limits:${id}:calls`);
  async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + 40_000;
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error(what);
      await Bun.sleep(20);
    }
  }
  const untilFree = (key: Paced) => until(async () => (await callsOf(key)) === 0, 'places were not given back');
  const untilPresent = (count: number) =>
    until(async () => Number(await redis.command('ZCARD', 't:limits:processes')) === count, 'not all were present');
  const untilCounted = (limits: Limits, key: Paced) =>
    until(async () => {
      const before = Number(await redis.command('HGET', `t:limits:${key.id}:minute`, 'r'));
      await admit(limits, key);
      return Number(await redis.command('HGET', `t:limits:${key.id}:minute`, 'r')) === before + 1;
    }, 'Redis was not found again');

  /** Sends calls until Redis counts again. */
  async function backUp(limits: Limits, key: Paced): Promise<void> {
    const deadline = performance.now() + 40_000;
    while (changes.at(-1) !== true) {
      if (performance.now() > deadline) throw new Error('Redis was not found again');
      ended(await admit(limits, key));
      await Bun.sleep(50);
    }
    timeoutMs = PATIENT_MS;
  }
});
