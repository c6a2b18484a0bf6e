import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, USED } from '../../../test/helpers/chat-answers.ts';
import type { SentRequest } from '../../../test/helpers/fake-transport.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import type { ByteSource } from '../../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const [role] = streamAnswer([]).events ?? [];
const chunk = (content: string) => streamAnswer([content]).events![1];

async function open({ model, ...setup }: CaseSetup = {}): Promise<GatewayCase> {
  const members = { continuation: 'prefill', retries: 0, ...model };
  return bench.open({ type: 'mistral', targets: 2, ...setup, model: members });
}

const body = (at: GatewayCase, more = {}) =>
  chatRequest(at.model, { stream: true, stream_options: { include_usage: true }, ...more });

async function received(serving: ReturnType<GatewayCase['serve']>): Promise<FakeSink> {
  const sink = new FakeSink();
  ((await serving).body as ByteSource).start(sink);
  return sink;
}

/** A stream that has sent these texts. */
async function begun(at: GatewayCase, ...texts: string[]): Promise<SentRequest> {
  const request = await at.transport.next();
  request.beginStream();
  request.pushEvents(role, ...texts.map(chunk));
  return request;
}

/** The first target's stream of a call, and the client's: both have this text. */
async function streamed(at: GatewayCase, text: string, serving = at.serve(body(at))) {
  const first = await begun(at, text);
  const sink = await received(serving);
  await until(sink, text);
  return { first, sink };
}

const cut = ({ exchange }: SentRequest) => exchange.broke(new Error('cut'));

/** Waits until the client has been sent this. */
async function until(sink: FakeSink, text: string): Promise<void> {
  while (!sink.text.includes(text)) await Bun.sleep(1);
}

function chunksOf({ text }: FakeSink) {
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

const textOf = (sink: FakeSink) =>
  chunksOf(sink)
    .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    .join('');

const lastMessage = ({ body: sent }: SentRequest) => (sent.messages as object[]).at(-1);

async function expectSettled(at: GatewayCase): Promise<void> {
  expect(await at.held()).toBe(0n);
  expect(await at.spent()).toBe(at.calls.reduce((sum, { cost }) => sum + cost, 0n));
  expect((await at.deps.ledger.verify()).faults).toEqual([]);
  expect(at.loads.size).toBe(0);
}

test('the next target continues after what was delivered: one stream, one finish, the usage and the charge of both', async () => {
  const at = await open();
  const { first, sink } = await streamed(at, 'One two ');
  cut(first);
  const second = await at.transport.next();
  expect(lastMessage(second)).toEqual({ role: 'assistant', content: 'One two', prefix: true });
  second.answer(streamAnswer(['One two', ' three', ' four']));
  expect(await sink.over).toBe('ended');
  expect(textOf(sink)).toBe('One two three four');
  expect(sink.text).toEndWith('data: [DONE]\n\n');
  const chunks = chunksOf(sink);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.filter(({ choices }) => choices?.[0]?.delta?.role)).toHaveLength(1);
  expect(chunks.filter(({ choices }) => choices?.[0]?.finish_reason)).toHaveLength(1);
  const [call] = at.calls;
  expect(call).toMatchObject({ outcome: 'ok', attempts: 2, provider: `p1-${at.model}` });
  // The first reported nothing: its output is counted, a token a letter; its input is estimated.
  const { input = 0, output } = call?.usage ?? {};
  expect(output).toBe('One two '.length + USED.output);
  expect(input).toBeGreaterThan(USED.input);
  expect(call?.cost).toBe(BigInt(input) * 1000n + BigInt('One two '.length + USED.output) * 4000n);
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: input, completion_tokens: output });
  const { targets } = at.deps.catalog.find(at.model)!;
  expect(at.deps.catalog.routing.targetState(targets[0]!)).toMatchObject({ inFlight: 0, errorRate: 1 });
  await expectSettled(at);
});

describe('a stream that', () => {
  for (const [what, breakOff] of [
    ['reports an error', (request) => request.pushEvents({ error: { message: 'overloaded', type: 'server_error' } })],
    ['ends without its end', ({ exchange }) => exchange.finish()],
  ] satisfies [string, (request: SentRequest) => void][]) {
    test(`${what} is continued, and its connection ended`, async () => {
      const at = await open();
      const { first, sink } = await streamed(at, 'Hel');
      at.transport.script(streamAnswer(['Hel', 'lo']));
      breakOff(first);
      expect(await sink.over).toBe('ended');
      expect(textOf(sink)).toBe('Hello');
      expect(at.calls[0]).toMatchObject({ outcome: 'ok', attempts: 2 });
      await expectSettled(at);
    });
  }

  test('breaks off twice is continued by the third target', async () => {
    const at = await open({ targets: 3 });
    const { first, sink } = await streamed(at, 'One');
    cut(first);
    const second = await begun(at, 'One', ' two');
    await until(sink, ' two');
    cut(second);
    const third = await at.transport.next();
    expect(lastMessage(third)).toMatchObject({ content: 'One two' });
    third.answer(streamAnswer(['One two', ' three']));
    expect(await sink.over).toBe('ended');
    expect(textOf(sink)).toBe('One two three');
    expect(at.calls[0]?.usage?.output).toBe('One two'.length + USED.output);
    await expectSettled(at);
  });

  test('breaks off without another target that continues ends with an error, charged for what was delivered', async () => {
    const at = await open();
    const { first, sink } = await streamed(at, 'Hello');
    at.transport.script(errorAnswer(503, 'also down'));
    cut(first);
    expect(await sink.over).toBe('ended');
    expect(sink.text).toContain('"error"');
    expect(sink.text).not.toContain('[DONE]');
    expect(at.calls[0]).toMatchObject({ outcome: 'broken', attempts: 2, usage: { output: 5 } });
    await expectSettled(at);
  });
});

test('a target that cannot is skipped', async () => {
  const at = await open({ type: 'anthropic', targets: 3 });
  const names = at.deps.catalog.find(at.model)!.targets.map(({ provider }) => provider);
  const models = ['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-sonnet-4-20250514'];
  const targets = names.map((provider, priority) => ({ provider, model: models[priority], priority }));
  await bench.change({ name: at.model, continuation: 'prefill', retries: 0, targets });
  const serving = at.serve(body(at));
  const first = await at.transport.next();
  first.beginStream();
  const event = (value: { type: string }) => first.push(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'c',
    usage: { input_tokens: 9, output_tokens: 1 },
  };
  event({ type: 'message_start', message } as { type: string });
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string });
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello ' } } as { type: string });
  const sink = await received(serving);
  await until(sink, 'Hello ');
  cut(first);
  const second = await at.transport.next();
  expect(second.host).toBe('p2.test');
  expect(lastMessage(second)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] });
  at.client.leave();
  expect(second.isStopped).toBe(true);
  await at.deps.ledger.flush();
  // The delivered text and both inputs: the first as reported, the second as estimated.
  const { input = 0, output } = at.calls[0]?.usage ?? {};
  expect([at.calls[0]?.outcome, output]).toEqual(['aborted', 6]);
  expect(input).toBeGreaterThan(9);
  await expectSettled(at);
});

test('is called only if the balance covers the rest', async () => {
  const probe = await open();
  const probing = probe.serve(body(probe));
  await begun(probe, 'Hello');
  const most = await probe.held();
  probe.client.leave();
  await probing;
  const at = await open({ balance: most });
  const { first, sink } = await streamed(at, 'Hello');
  cut(first);
  expect(await sink.over).toBe('ended');
  expect(at.transport.sent).toHaveLength(1);
  expect(at.calls[0]?.outcome).toBe('broken');
  await expectSettled(at);
});

for (const [dialect, request] of [
  ['anthropic-messages', { max_tokens: 50, stream: true, messages: [{ role: 'user', content: 'Hi' }] }],
  ['openai-responses', { stream: true, input: 'Hi', store: false }],
] as const) {
  test(`a client of ${dialect} gets one reply`, async () => {
    const at = await open();
    const headers = { 'anthropic-version': '2023-06-01' };
    const { first, sink } = await streamed(at, 'Hel', at.serve({ model: at.model, ...request }, { dialect, headers }));
    at.transport.script(streamAnswer(['Hel', 'lo']));
    cut(first);
    expect(await sink.over).toBe('ended');
    const lines = sink.text.split('\n').filter((line) => line.startsWith('data: {'));
    const events = lines.map((line) => JSON.parse(line.slice(6)));
    const deltas = events.map(({ delta }) => delta?.text ?? (typeof delta === 'string' ? delta : ''));
    expect(deltas.join('')).toBe('Hello');
    const count = (...types: string[]) => events.filter(({ type }) => types.includes(type)).length;
    expect(count('message_start', 'response.created')).toBe(1);
    expect(count('content_block_start', 'response.content_part.added')).toBe(1);
    expect(count('message_stop', 'response.completed')).toBe(1);
    await expectSettled(at);
  });
}

test('no target is called for a client that has disconnected', async () => {
  const at = await open({ model: { onDisconnect: 'drain' } });
  const { first } = await streamed(at, 'Hello');
  at.client.leave();
  cut(first);
  while (at.calls.length === 0) await Bun.sleep(1);
  expect(at.transport.sent).toHaveLength(1);
  expect(at.calls[0]).toMatchObject({ outcome: 'aborted', attempts: 1, usage: { output: 5 } });
  await expectSettled(at);
});

test('the continuation requests no more output than is left', async () => {
  const at = await open();
  const { first, sink } = await streamed(at, 'Hello', at.serve(body(at, { max_tokens: 12 })));
  cut(first);
  const second = await at.transport.next();
  expect(second.body.max_tokens).toBe(7);
  second.answer(streamAnswer(['Hello', '!']));
  expect(await sink.over).toBe('ended');
  await expectSettled(at);
});

for (const [what, more] of [
  ['structured output', { response_format: { type: 'json_object' } }],
  ['several choices', { n: 2 }],
  ['reasoning', { reasoning_effort: 'high' }],
] as const) {
  test(`a call with ${what} is not continued`, async () => {
    const at = await open();
    const { first, sink } = await streamed(at, 'Hello', at.serve(body(at, more)));
    cut(first);
    expect(await sink.over).toBe('ended');
    expect(at.transport.sent).toHaveLength(1);
    expect(sink.text).toContain('"error"');
    await expectSettled(at);
  });
}

test('a disputed usage report ends the stream: it must not enlarge the hold', async () => {
  const probe = await open();
  const probing = probe.serve(body(probe, { max_tokens: 50 }));
  await begun(probe, 'Hello');
  const most = await probe.held();
  probe.client.leave();
  await probing;
  const at = await open();
  const { first, sink } = await streamed(at, 'Hello', at.serve(body(at, { max_tokens: 50 })));
  at.transport.script(streamAnswer(['Hello', '!']));
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 5, total_tokens: 1_000_005 };
  first.pushEvents({ ...streamAnswer([]).events!.at(-1)!, usage });
  cut(first);
  await sink.over;
  expect(at.calls[0]).toMatchObject({ outcome: 'disputed', attempts: 1, cost: most });
  expect(at.transport.sent).toHaveLength(1);
  await expectSettled(at);
});

test('the output of the second target is counted if it reports zero', async () => {
  const at = await open();
  const { first, sink } = await streamed(at, 'Hel');
  const answer = streamAnswer(['Hel', 'lo']);
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  at.transport.script({ events: [...answer.events!.slice(0, -1), { ...answer.events!.at(-1)!, usage }] });
  cut(first);
  expect(await sink.over).toBe('ended');
  expect(at.calls[0]?.usage).toMatchObject({ output: 'Hello'.length, source: 'counted' });
  expect(chunksOf(sink).at(-1)?.usage.completion_tokens).toBe('Hello'.length);
  await expectSettled(at);
});

test('if the second breaks off too, no third request is charged', async () => {
  const at = await open();
  const { first, sink } = await streamed(at, 'One');
  cut(first);
  const second = await begun(at, 'One', ' two');
  await until(sink, ' two');
  cut(second);
  expect(await sink.over).toBe('ended');
  expect(at.calls[0]).toMatchObject({ outcome: 'broken', attempts: 2, usage: { output: 7 } });
  const { input = 0, largestInput = 0 } = at.calls[0]?.usage ?? {};
  expect(input).toBeGreaterThan(largestInput);
  expect(input).toBeLessThanOrEqual(2 * largestInput);
  await expectSettled(at);
});
