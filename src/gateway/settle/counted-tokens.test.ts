import { expect, test } from 'bun:test';
import { chatRequest, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { MINUTE_MS } from '../../canonical/time.ts';
import { countedTokens } from './figures.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

test('an absurd report of a free model blocks no other call after a minute', async () => {
  const at = await bench.open({
    provider: { tokensPerMinute: 50_000, queueMs: 1 },
    model: { price: { input: 0, output: 0 }, retries: 0 },
  });
  const { json } = wholeAnswer('Hello');
  const usage = { prompt_tokens: 11, completion_tokens: Number.MAX_SAFE_INTEGER, total_tokens: 18 };
  at.transport.script({ json: { ...(json as object), usage } }, wholeAnswer('Hello'));
  expect((await at.serve(chatRequest(at.model))).status).toBe(200);
  at.turn(MINUTE_MS);
  expect((await at.serve(chatRequest(at.model))).status).toBe(200);
});

test('a report within what was sent and requested counts in full', () => {
  const call = { kind: 'chat', sampling: {}, maxOutputTokens: 100 } as never;
  const context = { call, model: { maxOutputTokens: 500 }, estimatedInput: 10, sendings: 1 };
  const report = (input: number, output: number) => countedTokens(context, { input, output, source: 'reported' });
  expect(report(12, 150)).toBe(162);
  expect(report(2030, 200)).toBe(2230);
  expect(report(2030, 9000)).toBe(2230);
  expect(countedTokens({ ...context, sendings: 3 }, { input: 9e9, output: 0, source: 'reported' })).toBe(2290);
});
