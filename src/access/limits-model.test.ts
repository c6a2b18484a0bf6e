/** Both limit implementations against the reference model: any order of calls, ends and seconds gives the same results. */
import { describe, expect, test } from 'bun:test';
import { forTests } from '../../test/helpers/for-tests.ts';
import { fc } from '../../test/helpers/property.ts';
import { hasRedis, startRedis } from '../../test/helpers/redis-server.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Admitted, Limits, Paced } from './limits.ts';
import { allows, enter, held, leave, type Book as Usage } from './limits-model.ts';
import { createLocalLimits } from './local-limits.ts';
import { createSharedLimits } from './shared-limits.ts';

/** The clock of all limits in this file. It continues from one run to the next. */
let second = 1_700_000_000;
const clock = () => second * 1000;

type Step =
  | { type: 'call'; key: 0 | 1; tokens: number }
  | { type: 'end'; call: number; used: number }
  | { type: 'pass'; seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('call' as const),
      key: fc.constantFrom(0 as const, 1 as const),
      tokens: fc.nat(60),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('end' as const), call: fc.nat(30), used: fc.nat(120) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      seconds: fc.constantFrom(0, 1, 2, 7, 30, 60, 61, 62, 200),
    }),
  },
);
const limit = (most: number) => fc.option(fc.integer({ min: 1, max: most }), { nil: undefined });
const pace = fc.record({ requestsPerMinute: limit(5), tokensPerMinute: limit(200), concurrency: limit(4) });
const scenario = fc.record({ keys: fc.tuple(pace, pace), account: pace, steps: fc.array(step, { maxLength: 60 }) });
type Scenario = typeof scenario extends fc.Arbitrary<infer S> ? S : never;

function defined(id: string, of: Paced['of'], limits: Scenario['account']): Paced {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return { id, of, ...Object.fromEntries(given) };
}

/**
 * Runs the steps on the limits and on the reference in parallel. `name` separates runs that share a Redis. `arrived` resolves once the
 * ends of calls are counted, which nobody else waits for: before that the clock must not move.
 */
async function compare(
  limits: Limits,
  { keys, account, steps }: Scenario,
  name: string,
  arrived?: () => Promise<void>,
): Promise<void> {
  const all = [
    defined(`${name}-0`, 'key', keys[0]),
    defined(`${name}-1`, 'key', keys[1]),
    defined(`${name}-a`, 'account', account),
  ];
  const usages: Usage[] = all.map(() => ({ events: [], active: new Set() }));
  const running: { id: string; admitted: Admitted; events: [Usage, ReturnType<typeof enter>][] }[] = [];
  second += 200;
  let calls = 0;
  for (const one of steps) {
    if (one.type === 'pass') second += one.seconds;
    else if (one.type === 'end') {
      const [call] = running.splice(one.call % Math.max(1, running.length), 1);
      if (!call) continue;
      call.admitted.end(one.used);
      await arrived?.();
      for (const [usage, event] of call.events) leave(usage, call.id, event, one.used, second);
    } else {
      const bound = [one.key, 2];
      const id = `${name}-${++calls}`;
      const isAllowed = bound.every((i) => allows(usages[i]!, all[i]!, one.tokens, second));
      const ask = { callId: '', paced: bound.map((i) => all[i]!), tokens: one.tokens };
      // Looking foretells the admission, and counts nothing.
      const { seen, refusal } = await limits.look(ask);
      expect(refusal === undefined).toBe(isAllowed);
      if (refusal) expect(refusal.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(seen.map(({ paced, used }) => [paced.id, paced.requestsPerMinute && used.requests])).toEqual(
        bound.map((i) => [all[i]!.id, all[i]!.requestsPerMinute && held(usages[i]!, second, 'requests')]),
      );
      const admitted = await tried(
        limits,
        id,
        bound.map((i) => all[i]!),
        one.tokens,
      );
      expect(admitted !== undefined).toBe(isAllowed);
      if (!admitted) continue;
      running.push({ id, admitted, events: bound.map((i) => [usages[i]!, enter(usages[i]!, id, one.tokens, second)]) });
    }
    for (const [i, usage] of usages.entries()) {
      expect(held(usage, second, 'requests')).toBeLessThanOrEqual(all[i]?.requestsPerMinute ?? Infinity);
      expect(usage.active.size).toBeLessThanOrEqual(all[i]?.concurrency ?? Infinity);
    }
  }
  for (const { admitted } of running) admitted.end(0);
  await arrived?.();
}

async function tried(limits: Limits, callId: string, paced: Paced[], tokens: number): Promise<Admitted | undefined> {
  try {
    return await limits.admit({ callId, paced, tokens });
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).code).toBe('rate_limited');
    expect((thrown as GatewayError).retryAfterSeconds).toBeGreaterThanOrEqual(1);
    return undefined;
  }
}

let runs = 0;

test('limits counted in this process give the results of the reference', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, (one) => compare(createLocalLimits(clock), one, `local${++runs}`)),
    { numRuns: 400 },
  );
});

describe.skipIf(!hasRedis)('limits counted in Redis give the results of the reference', () => {
  const redis = forTests(startRedis, (server) => server.stop());

  test('limits counted by several processes through Redis give the results of the reference', async () => {
    const open = () =>
      createSharedLimits({
        url: redis.url,
        prefix: 't:',
        timeoutMs: 5000,
        whenDown: 'closed',
        clock,
        // The steps alone end the calls here: no lease expires and none needs renewal.
        leaseSeconds: 1_000_000,
        // The clock jumps here: a beat under way meanwhile would bring a time that lies far back.
        beatMs: 1_000_000,
        changed() {},
      });
    const processes = [open(), open()];
    let turn = 0;
    const nobody = { callId: 'x', paced: [{ id: 'nobody', of: 'key' as const }], tokens: 0 };
    // An answer on the same connection shows that an end has arrived; twice, because Redis asks once for a script that it does not know.
    const arrived = async () => {
      for (const limits of [...processes, ...processes]) await limits.admit(nobody);
    };
    // Calls alternate between the processes.
    const both: Limits = {
      admit: (ask) => processes[turn++ % 2]!.admit(ask),
      look: (ask) => processes[turn % 2]!.look(ask),
      start() {},
      close() {
        for (const limits of processes) limits.close();
      },
    };
    try {
      await fc.assert(
        fc.asyncProperty(scenario, (one) => compare(both, one, `shared${++runs}`, arrived)),
        { numRuns: 150 },
      );
    } finally {
      both.close();
    }
  });
});
