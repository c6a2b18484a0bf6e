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
  | { type: 'calls'; calls: readonly { key: 0 | 1; tokens: number }[] }
  | { type: 'end'; call: number; used: number }
  | { type: 'pass'; seconds: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('calls' as const),
      calls: fc.array(fc.record({ key: fc.constantFrom(0 as const, 1 as const), tokens: fc.nat(60) }), {
        minLength: 1,
        maxLength: 4,
      }),
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

interface Compared {
  /** The limits of the process whose turn it is: of one step. */
  next(): Limits;
  /** Resolves once the ends of calls are counted, which nobody else waits for: before that the clock must not move. */
  arrived?(): Promise<void>;
  /** Whether the next calls may be made before `arrived`: by the same process. */
  isOne?: boolean;
}

/** Runs the steps on the limits and on the reference in parallel. `name` separates runs that share a Redis. */
async function compare(
  { next, arrived, isOne = false }: Compared,
  { keys, account, steps }: Scenario,
  name: string,
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
    if (one.type === 'pass') {
      if (isOne) await arrived?.();
      second += one.seconds;
    } else if (one.type === 'end') {
      const [call] = running.splice(one.call % Math.max(1, running.length), 1);
      if (!call) continue;
      call.admitted.end(one.used);
      if (!isOne) await arrived?.();
      for (const [usage, event] of call.events) leave(usage, call.id, event, one.used, second);
    } else {
      const limits = next();
      const [{ key, tokens } = { key: 0, tokens: 0 }] = one.calls;
      const first = [key, 2];
      // Looking foretells the admission, and counts nothing. Without it, ends and calls are of one turn.
      if (!isOne) {
        const { seen, refusal } = await limits.look({ callId: '', paced: first.map((i) => all[i]!), tokens });
        expect(refusal === undefined).toBe(first.every((i) => allows(usages[i]!, all[i]!, tokens, second)));
        if (refusal) expect(refusal.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(seen.map(({ paced, used }) => [paced.id, paced.requestsPerMinute && used.requests])).toEqual(
          first.map((i) => [all[i]!.id, all[i]!.requestsPerMinute && held(usages[i]!, second, 'requests')]),
        );
      }
      // Calls of one turn are admitted in their order.
      const asked = one.calls.map(({ key, tokens }) => {
        const bound = [key, 2];
        const id = `${name}-${++calls}`;
        const paced = bound.map((i) => all[i]!);
        return { bound, id, tokens, answer: tried(limits, id, paced, tokens) };
      });
      for (const { bound, id, tokens, answer } of asked) {
        const isAllowed = bound.every((i) => allows(usages[i]!, all[i]!, tokens, second));
        const admitted = await answer;
        expect(admitted !== undefined).toBe(isAllowed);
        if (!admitted) continue;
        running.push({ id, admitted, events: bound.map((i) => [usages[i]!, enter(usages[i]!, id, tokens, second)]) });
      }
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
    fc.asyncProperty(scenario, (one) => {
      const limits = createLocalLimits(clock);
      return compare({ next: () => limits }, one, `local${++runs}`);
    }),
    { numRuns: 400 },
  );
});

describe.skipIf(!hasRedis)('limits counted in Redis give the results of the reference', () => {
  const redis = forTests(startRedis, (server) => server.stop());

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
  const nobody = { callId: 'x', paced: [{ id: 'nobody', of: 'key' as const }], tokens: 0 };

  test.each([
    ['several processes', 2],
    ['one process, whose ends and calls share a turn', 1],
  ])('by %s', async (_, count) => {
    const processes = Array.from({ length: count }, open);
    let turn = 0;
    const both: Compared = {
      // Steps alternate between the processes.
      next: () => processes[turn++ % count]!,
      // An answer on the same connection shows that an end has arrived; twice, because Redis asks once for a script that it does not know.
      async arrived() {
        for (const limits of [...processes, ...processes]) await limits.admit(nobody);
      },
      isOne: count === 1,
    };
    try {
      await fc.assert(
        fc.asyncProperty(scenario, (one) => compare(both, one, `shared${++runs}`)),
        { numRuns: 150 },
      );
    } finally {
      for (const limits of processes) limits.close();
    }
  });
});
