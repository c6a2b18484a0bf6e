import { expect, test } from 'bun:test';
import { chatRequest, errorAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { admit } from '../admit/admit.ts';
import { sendTo } from './send.ts';
import { allFrames } from './upstream.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

async function admitted() {
  const at = await bench.open({ targets: 2 });
  const context = await admit(at.deps, at.pendingCall(chatRequest(at.model)), at.underWay);
  const [first, second] = context.route.targets;
  if (!first || !second) throw new Error('The model has two targets.');
  return { ...at, context, first, second };
}

test('an attempt starts without what an earlier one has left in the context', async () => {
  const at = await admitted();
  at.context.sendings = 3;
  at.context.warnings = ['Of another target.'];
  at.context.meter.thinks = true;
  at.transport.script(wholeAnswer('Hello'));
  const upstream = await sendTo(at.deps, at.context, at.second, 'sk-secret-0');
  expect(upstream.same).toBe(true);
  expect(await allFrames(upstream)).not.toHaveLength(0);
  expect(at.context).toMatchObject({ target: at.second, upstreamDialect: 'openai-chat', sendings: 1, warnings: [] });
  expect(at.context.meter.thinks).toBe(false);
  expect(at.transport.sent[0]?.host).toBe('p1.test');
});

test('a refusal is the error of its status; the headers that were sent are kept for redaction', async () => {
  const at = await admitted();
  at.transport.script(errorAnswer(400, 'temperature is too high'));
  const sending = sendTo(at.deps, at.context, at.first, 'sk-secret-0');
  expect(await sending.catch(({ code }: { code: string }) => code)).toBe('upstream_refused');
  expect(at.context.sent).toMatchObject({ authorization: 'Bearer sk-secret-0' });
});
