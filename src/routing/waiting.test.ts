import { expect, test } from 'bun:test';
import type { Call } from '../canonical/call.ts';
import type { RoutedModel, RoutedTarget } from './routed.ts';
import { createRouting } from './routing.ts';

const WAITING = 200;
const TOKENS = 10;

const target: RoutedTarget = {
  id: 'p/m',
  provider: 'p',
  credentials: ['k'],
  priority: 0,
  weight: 1,
  limits: { tokensPerMinute: 60_000, queueMs: 60_000 },
};
const model: RoutedModel<RoutedTarget> = { name: 'm', targets: [target], strategy: 'weighted', affinity: false };
const call = { kind: 'moderation', model: 'm', stream: false } as unknown as Call;

test('of many calls that wait for tokens only one has a timer', async () => {
  let now = 0;
  let pauses = 0;
  const timers = new Set<{ at: number; stop(): void }>();
  const routing = createRouting<RoutedTarget>({ now: () => now });
  const begin = (tokens: number) => {
    const request = { call, account: 'a', tokens, random: () => 0 };
    const options = {
      random: () => 0,
      leftMs: () => 100_000 - now,
      hasEnded: () => false,
      pause(ms: number) {
        pauses++;
        const { promise: over, resolve } = Promise.withResolvers<void>();
        const timer = {
          at: now + ms,
          stop() {
            timers.delete(timer);
            resolve();
          },
        };
        timers.add(timer);
        return { over, stop: timer.stop };
      },
    };
    return routing.trial({ model, route: routing.route(model, request), ...request }, options).next();
  };
  await begin(60_000);
  let admitted = 0;
  const all = Array.from({ length: WAITING }, async () => {
    const attempt = await begin(TOKENS);
    if (attempt) admitted++;
  });
  for (; admitted < WAITING && now < 10_000; now += TOKENS) {
    for (const timer of timers) if (timer.at <= now) timer.stop();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(now).toBeLessThanOrEqual((WAITING + 2) * TOKENS);
  expect(pauses).toBeLessThan(4 * WAITING);
});

/** Calls that wait at one target, and the means to end what they wait for. */
function scene(limits: RoutedTarget['limits']) {
  const now = 0;
  const routing = createRouting<RoutedTarget>({ now: () => now });
  const limited = { ...target, ...(limits && { limits }) };
  const one: RoutedModel<RoutedTarget> = { ...model, targets: [limited] };
  const begin = (tokens = TOKENS) => {
    const request = { call, account: 'a', tokens, random: () => 0 };
    const options = {
      random: () => 0,
      leftMs: () => 1_000_000 - now,
      hasEnded: () => false,
      // Nobody's time ends in these tests.
      pause: () => ({ over: new Promise<void>(() => {}), stop() {} }),
    };
    const trial = routing.trial({ model: one, route: { targets: [limited], ready: 1 }, ...request }, options);
    return { trial, attempt: Promise.resolve(trial.next()) };
  };
  return { routing, one, limited, begin };
}

for (const [what, changed] of [
  ['raised', { concurrency: 3 }],
  ['taken away', undefined],
] as const) {
  test(`calls that wait are let in when the limits of their provider are ${what}`, async () => {
    const { routing, one, limited, begin } = scene({ concurrency: 1, queueMs: 60_000 });
    expect(await begin().attempt).toBeDefined();
    const waiting = [begin(), begin()];
    await new Promise(setImmediate);
    const { limits: _, ...free } = limited;
    routing.state.keepOnly([{ ...one, targets: [changed ? { ...limited, limits: changed } : free] }]);
    for (const { attempt } of waiting) expect(await attempt).toBeDefined();
  });
}

test('calls that wait at a target that has opened meanwhile are admitted one at a time', async () => {
  const { routing, limited, begin } = scene({ concurrency: 3, queueMs: 60_000 });
  const first = await Promise.all([begin(), begin(), begin()].map(({ attempt }) => attempt));
  const waiting = [begin(), begin()];
  await new Promise(setImmediate);
  routing.state.health(limited).coolDown(1_000_000, 0);
  for (const attempt of first) attempt?.dropped();
  const [probe, other] = await Promise.all(waiting.map(({ attempt }) => attempt));
  expect(probe?.isProbe).toBe(true);
  expect(other).toBeUndefined();
  expect(waiting[1]?.trial.refusal()).toMatchObject({ code: 'upstream_unavailable', retryAfterSeconds: 1 });
  expect(waiting[1]?.trial.refusal().message).toContain('after failures');
  expect(routing.state.bulkhead(limited)?.calls).toBe(1);
  probe?.answered();
  expect(routing.state.health(limited).needsLease).toBe(false);
});
