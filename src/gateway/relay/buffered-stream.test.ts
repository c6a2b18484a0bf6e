import { expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, USED } from '../../../test/helpers/chat-answers.ts';
import type { SentRequest } from '../../../test/helpers/fake-transport.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import type { ByteSource } from '../../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const COST = BigInt(USED.input) * 1000n + BigInt(USED.output) * 4000n;
const [role, hel, lo, finish, usage] = streamAnswer(['Hel', 'lo']).events ?? [];

const open = ({ model, ...setup }: CaseSetup = {}) =>
  bench.open({ ...setup, model: { continuation: 'buffer', retries: 0, ...model } });
const body = (at: GatewayCase) => chatRequest(at.model, { stream: true, stream_options: { include_usage: true } });

/** What the client has been sent, once its answer begins. */
async function received(serving: ReturnType<GatewayCase['serve']>): Promise<FakeSink> {
  const answer = await serving;
  const sink = new FakeSink();
  (answer.body as ByteSource).start(sink);
  return sink;
}

/** A stream that stands still after its first words. */
async function halfWay(at: GatewayCase): Promise<SentRequest> {
  const request = await at.transport.next();
  request.beginStream();
  request.pushEvents(role, hel);
  return request;
}

/** The silence is counted from when what came has been read. */
async function fallSilent(at: GatewayCase, { exchange }: SentRequest): Promise<void> {
  while (!exchange.failure) {
    at.transport.pass(200_000);
    await Bun.sleep(1);
  }
}

test('the next target replaces one that breaks off; the reply is charged once', async () => {
  const at = await open({ targets: 2 });
  const serving = at.serve(body(at));
  const first = await halfWay(at);
  at.transport.script(streamAnswer(['Good ', 'day']));
  first.exchange.broke(new Error('cut'));
  const sink = await received(serving);
  expect(await sink.over).toBe('ended');
  expect(sink.text).toContain('Good ');
  expect(sink.text).not.toContain('Hel');
  expect(sink.text).toEndWith('data: [DONE]\n\n');
  expect(at.calls.map(({ outcome, cost, attempts }) => [outcome, cost, attempts])).toEqual([['ok', COST, 2]]);
  expect([await at.spent(), await at.held()]).toEqual([COST, 0n]);
});

for (const [name, breakOff] of [
  ['falls silent', fallSilent],
  ['ends without its end', (_at, request) => request.exchange.finish()],
  [
    'reports an error',
    (_at, request) => request.pushEvents({ error: { message: 'overloaded', type: 'server_error' } }),
  ],
  ['is larger than a reply may be', (_at, request) => request.push(`: ${'x'.repeat(1_000_001)}\n\n`)],
] satisfies [string, (at: GatewayCase, request: SentRequest) => void | Promise<void>][]) {
  test(`a stream that ${name} is neither sent nor charged`, async () => {
    const at = await open({ targets: 2 });
    const serving = at.serve(body(at));
    const first = await halfWay(at);
    at.transport.script(errorAnswer(503, 'also down'));
    await breakOff(at, first);
    const answer = await serving;
    expect(answer.status).toBeWithin(502, 505);
    expect(Buffer.from(answer.body as string).toString()).not.toContain('Hel');
    expect(at.calls.map(({ outcome, cost }) => [outcome, cost])).toEqual([['failed', 0n]]);
    expect([await at.spent(), await at.held()]).toEqual([0n, 0n]);
    expect(at.loads.size).toBe(0);
  });
}

test('the client is sent keep-alives and nothing else before the reply is complete', async () => {
  const at = await open({ settings: { keepAliveMs: 10 } });
  const serving = at.serve(body(at));
  const request = await halfWay(at);
  const sink = await received(serving);
  expect(sink.text).toBe(': ka\n\n');
  while (sink.text.length < 12) await Bun.sleep(5);
  expect(sink.text.replaceAll(': ka\n\n', '')).toBe('');
  request.pushEvents(lo, finish, usage);
  request.pushDone();
  expect(await sink.over).toBe('ended');
  expect(sink.text).toContain('Hel');
  expect(sink.text).toContain('"lo"');
  expect(await at.spent()).toBe(COST);
});

test('the time to its first token and of each token is measured when they arrive, not at the end', async () => {
  const at = await open();
  const serving = at.serve(body(at));
  const request = await at.transport.next();
  request.beginStream();
  at.turn(300);
  request.pushEvents(role, hel);
  const [target] = at.deps.catalog.find(at.model)!.targets;
  const health = at.deps.catalog.routing.state.health(target!);
  // What came has been read before the clock goes on.
  await new Promise(setImmediate);
  at.turn(7000);
  request.pushEvents(lo, finish, usage);
  request.pushDone();
  await (await received(serving)).over;
  expect(at.deps.catalog.routing.targetState(target!)).toMatchObject({ firstTokenMs: 300, tokenMs: 1000 });
  expect(health.firstTokens.percentile(1)).toBeWithin(300, 360);
});

test('a client that leaves while the reply is read is charged its input, and the upstream is ended', async () => {
  const at = await open();
  const serving = at.serve(body(at));
  const request = await halfWay(at);
  at.client.leave();
  expect((await serving).status).toBeGreaterThanOrEqual(400);
  expect(request.isStopped).toBe(true);
  expect(at.calls[0]).toMatchObject({ outcome: 'aborted', usage: { output: 0 } });
  expect(await at.spent()).toBe(at.calls[0]?.cost ?? 0n);
});

test('a non-streaming call of the model is unchanged', async () => {
  const at = await open();
  const serving = at.serve(chatRequest(at.model));
  const request = await at.transport.next();
  expect(request.body.stream).toBeFalsy();
  request.answer(errorAnswer(400, 'No.'));
  expect((await serving).status).toBe(400);
});
