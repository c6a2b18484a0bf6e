import { expect, test } from 'bun:test';
import { cannotListen } from './setting-error.ts';

const idleStreams = { socket: { data() {} } };

test.each(['shared', 'alone'])('a port used by another program is named with the reason (%s)', (how) => {
  const first = Bun.listen({ hostname: '127.0.0.1', port: 0, ...idleStreams });
  const { port } = first;
  const again = { hostname: '127.0.0.1', port, reusePort: how === 'shared', ...idleStreams };
  try {
    Bun.listen(again);
    throw new Error('two listen on one port');
  } catch (thrown) {
    const { message } = cannotListen({ host: '127.0.0.1', port }, thrown);
    expect(message).toBe(`The gateway cannot listen on 127.0.0.1:${port}: another program already listens there.`);
  } finally {
    first.stop(true);
  }
});

test("an unknown cause is reported with the runtime's message", () => {
  const { message } = cannotListen({ host: 'nowhere', port: 1 }, new Error('Failed to listen at nowhere'));
  expect(message).toBe('The gateway cannot listen on nowhere:1: Failed to listen at nowhere.');
});
