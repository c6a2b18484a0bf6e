/** What the tests of a file share: started before the first of them, stopped after the last. */
import { afterAll, beforeAll } from 'bun:test';

/**
 * The members of what `start` returns, for use inside tests: before they run it does not exist. Without `startMs` and `stopMs` the time
 * limit of a test applies.
 *
 * @example
 * const bench = forTests(startGatewayBench, ({ close }) => close());
 * test('…', async () => expect(await bench.open()).toBeDefined());
 */
export function forTests<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => unknown,
  { startMs, stopMs }: { startMs?: number; stopMs?: number } = {},
): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  }, startMs);
  afterAll(async () => {
    if (started) await stop(started);
  }, stopMs);
  return onceStarted(() => started);
}

/** Stands for an object that a hook starts: its members are read when they are used. */
export function onceStarted<T extends object>(current: () => T | undefined): T {
  return new Proxy({} as T, {
    get(_, member) {
      const started = current();
      if (!started) throw new Error('It is started before the first test: use it inside tests and hooks.');
      return Reflect.get(started, member);
    },
  });
}
