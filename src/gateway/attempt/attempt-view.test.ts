import { expect, test } from 'bun:test';
import { chatRequest } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { startGatewayBench } from '../../../test/helpers/gateway-bench.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

test.each(['off', 'on'])(
  'several requests with the whole input are charged where the client leaves (hedge %s)',
  async (hedge) => {
    const wait = () => () => {};
    const at = await bench.open({ type: 'anthropic', targets: 2, model: { hedge, retries: 0 }, deps: { wait } });
    const leaving = async (n: number) => {
      const serving = at.serve(chatRequest(at.model, { n, max_tokens: 20 }));
      for (let i = 0; i < n; i++) await at.transport.next();
      at.client.leave();
      await serving;
      at.client.hasLeft = false;
      return at.calls.at(-1)?.usage?.input ?? 0;
    };
    const one = await leaving(1);
    expect(one).toBeGreaterThan(0);
    expect(await leaving(3)).toBe(3 * one);
    expect(await at.held()).toBe(0n);
    expect((await at.deps.ledger.verify()).faults).toEqual([]);
  },
);
