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

test('of many calls that wait for tokens one alone looks at the clock', async () => {
  let now = 0;
  let pauses = 0;
  const timers = new Set<{ at: number; stop(): void }>();
  const routing = createRouting<RoutedTarget>({ now: () => now });
  const begin = (tokens: number) => {
    const asked = { call, account: 'a', tokens, random: () => 0 };
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
    return routing.trial({ model, route: routing.route(model, asked), ...asked }, options).next();
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
