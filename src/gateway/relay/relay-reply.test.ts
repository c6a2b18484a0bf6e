import { expect, test } from 'bun:test';
import { chatRequest, type USAGE, USED, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import type { Answer as UpstreamAnswer } from '../../../test/upstream/answer.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Answer } from '../../http1/answer.ts';
import { admit } from '../admit/admit.ts';
import { attempt } from '../attempt/attempt.ts';
import { WholeUpstream } from '../attempt/upstream.ts';
import type { CallContext } from '../call-context.ts';
import { replyOf, settleReply, writeReply } from './relay-reply.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

/** What `USAGE` costs. */
const COST = BigInt(USED.input) * 1000n + BigInt(USED.output) * 4000n;

interface Admitted extends GatewayCase {
  context: CallContext;
}

async function admitted(setup: CaseSetup = {}): Promise<Admitted> {
  const at = await bench.open(setup);
  return { ...at, context: await admit(at.deps, at.pendingCall(chatRequest(at.model)), at.underWay) };
}

async function relayed(at: Admitted, answer: UpstreamAnswer): Promise<Answer> {
  at.transport.script(answer);
  const reply = await writeReply(at.deps, at.context, await attempt(at.deps, at.context));
  return replyOf(at.deps, at.context, reply, await settleReply(at.deps, at.context, reply, at.client));
}

const bodyOf = ({ body }: Answer) => JSON.parse(Buffer.from(body as Uint8Array).toString());

test('a reply is settled before it is returned, and its headers name its cost', async () => {
  const at = await admitted();
  const answer = await relayed(at, wholeAnswer('Hello'));
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ 'x-modelport-cost': '0.000039', 'x-modelport-attempts': '1' });
  expect(bodyOf(answer).choices[0].message.content).toBe('Hello');
  expect(await at.spent()).toBe(COST);
  expect(await at.held()).toBe(0n);
});

test('a reply whose client has left is recorded as aborted and charged what was used', async () => {
  const at = await admitted();
  at.client.leave();
  await relayed(at, wholeAnswer('Hello'));
  expect(at.calls[0]).toMatchObject({ outcome: 'aborted', status: 499, cost: COST });
});

test('a usage report that does not fit what was delivered charges the hold, and the body shows our own count', async () => {
  const at = await admitted();
  const usage = { prompt_tokens: 5_000_000, completion_tokens: 9_000_000, total_tokens: 14_000_000 };
  const answer = await relayed(at, { json: { ...(wholeAnswer('Hello').json as object), usage } });
  expect(at.calls[0]).toMatchObject({ outcome: 'disputed', cost: at.context.hold.amount });
  expect(bodyOf(answer).usage.completion_tokens).toBe('Hello'.length);
  expect(await at.spent()).toBe(at.context.hold.amount);
});

test('a reply that reports no usage is charged what was counted', async () => {
  const at = await admitted();
  const { usage: _, ...silent } = wholeAnswer('Hello').json as { usage: typeof USAGE };
  await relayed(at, { json: silent });
  expect(at.calls[0]?.usage).toMatchObject({ output: 'Hello'.length, source: 'counted' });
});

test('a reply that reports an error is not counted: `serve` handles the error and nothing is settled yet', async () => {
  const at = await admitted();
  const error = new GatewayError('upstream_failed', 'The provider failed.');
  const upstream = new WholeUpstream([{ bytes: new Uint8Array(), events: [{ type: 'error', error }] }], true);
  expect(() => writeReply(at.deps, at.context, upstream)).toThrow(GatewayError);
  expect(at.context.meter.delivered).toBe(false);
  expect(at.calls).toEqual([]);
});
