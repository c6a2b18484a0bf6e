import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, USED, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import type { SentRequest } from '../../../test/helpers/fake-transport.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { writeMoney } from '../../canonical/money.ts';
import type { ByteSource } from '../../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

const COST = BigInt(USED.input) * 1000n + BigInt(USED.output) * 4000n;
const [role, hel, lo, finish, usage] = streamAnswer(['Hel', 'lo']).events ?? [];

/** Pauses that the test ends. */
class Pauses {
  readonly requested: number[] = [];
  private readonly open = new Map<() => void, number>();
  private waiting: (() => void) | undefined;

  readonly wait = (ms: number, over: () => void) => {
    this.requested.push(ms);
    this.open.set(over, ms);
    this.waiting?.();
    return () => void this.open.delete(over);
  };

  /** Ends the pause that is waited for, once there is one. */
  async end(): Promise<void> {
    while (this.open.size === 0) {
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
    for (const over of [...this.open.keys()]) over();
    this.open.clear();
  }

  get pending(): number {
    return this.open.size;
  }
}

async function open({ model, deps, ...setup }: CaseSetup = {}) {
  const pauses = new Pauses();
  const at = await bench.open({
    targets: 2,
    ...setup,
    model: { hedge: 'on', retries: 0, ...model },
    deps: { wait: pauses.wait, ...deps },
  });
  return { at, pauses };
}

const streaming = (at: GatewayCase) => chatRequest(at.model, { stream: true, stream_options: { include_usage: true } });
const hostOf = (request: SentRequest) => request.host;

async function received(serving: ReturnType<GatewayCase['serve']>): Promise<FakeSink> {
  const sink = new FakeSink();
  ((await serving).body as ByteSource).start(sink);
  return sink;
}

/** Both targets have been called and are silent. */
async function bothSent({ at, pauses }: Awaited<ReturnType<typeof open>>): Promise<[SentRequest, SentRequest]> {
  const first = await at.transport.next();
  await pauses.end();
  const second = await at.transport.next();
  expect([first, second].map(hostOf)).toEqual(['p0.test', 'p1.test']);
  return [first, second];
}

function sendHello(request: SentRequest): void {
  request.beginStream();
  request.pushEvents(role, hel, lo, finish, usage);
  request.pushDone();
}

/** Of the estimated input. */
const inputOf = (at: GatewayCase) => BigInt(at.calls.at(-1)?.usage?.hedge?.usage.input ?? 0) * 1000n;

async function expectSettled(at: GatewayCase): Promise<void> {
  expect(await at.held()).toBe(0n);
  expect(await at.spent()).toBe(at.calls.reduce((sum, { cost }) => sum + cost, 0n));
  expect((await at.deps.ledger.verify()).faults).toEqual([]);
  expect(at.loads.size).toBe(0);
}

for (const winner of [0, 1]) {
  test(`a stream of the ${winner === 0 ? 'first' : 'second'} target wins: the other is cancelled, its input is charged`, async () => {
    const opened = await open();
    const { at } = opened;
    const serving = at.serve(streaming(at));
    const pair = await bothSent(opened);
    sendHello(pair[winner]!);
    const sink = await received(serving);
    expect(await sink.over).toBe('ended');
    expect(sink.text.match(/"content":"[^"]+"/g)).toEqual(['"content":"Hel"', '"content":"lo"']);
    expect(pair[1 - winner]!.isStopped).toBe(true);
    expect(pair[winner]!.isStopped).toBe(false);
    const [call] = at.calls;
    expect([call?.outcome, call?.attempts, call?.provider]).toEqual(['ok', 2, `p${winner}-${at.model}`]);
    expect(call?.usage).toMatchObject({
      ...USED,
      hedge: {
        provider: `p${1 - winner}-${at.model}`,
        targetModel: 'upstream',
        usage: { output: 0, source: 'estimated' },
      },
    });
    expect(inputOf(at)).toBeGreaterThan(0n);
    expect(call?.cost).toBe(COST + inputOf(at));
    await expectSettled(at);
    for (const target of at.deps.catalog.find(at.model)!.targets) {
      expect(at.deps.catalog.routing.targetState(target)).toMatchObject({ inFlight: 0, errorRate: 0 });
    }
  });
}

test('a non-streaming reply of the second target wins', async () => {
  const opened = await open();
  const { at } = opened;
  const serving = at.serve(chatRequest(at.model));
  const [first, second] = await bothSent(opened);
  second.answer(wholeAnswer('Hello'));
  const answer = await serving;
  expect([answer.status, answer.headers['x-modelport-attempts']]).toEqual([200, '2']);
  expect(answer.headers['x-modelport-provider']).toBe(`p1-${at.model}`);
  expect(first.isStopped).toBe(true);
  expect(at.calls[0]?.cost).toBe(COST + inputOf(at));
  expect(answer.headers['x-modelport-cost']).toBe(writeMoney(COST + inputOf(at)));
  await expectSettled(at);
});

test('a target that starts its stream without content has not answered', async () => {
  const opened = await open();
  const { at } = opened;
  const serving = at.serve(streaming(at));
  const [first, second] = await bothSent(opened);
  first.beginStream();
  first.pushEvents(role);
  sendHello(second);
  const sink = await received(serving);
  expect(await sink.over).toBe('ended');
  expect(first.isStopped).toBe(true);
  expect(at.calls[0]?.provider).toBe(`p1-${at.model}`);
  await expectSettled(at);
});

test('an answer in time, or without the setting, is not hedged', async () => {
  const { at, pauses } = await open();
  at.transport.script(streamAnswer(['Hello']));
  await (await received(at.serve(streaming(at)))).over;
  expect([at.transport.sent.length, pauses.pending]).toEqual([1, 0]);
  expect(at.calls[0]?.cost).toBe(COST);
  const plain = await open({ model: { hedge: 'off' } });
  plain.at.transport.script(streamAnswer(['Hello']));
  await (await received(plain.at.serve(streaming(plain.at)))).over;
  expect(plain.pauses.requested).toEqual([]);
  await expectSettled(at);
});

test('if the balance does not cover both, only the first is called', async () => {
  const probe = await open();
  const probing = probe.at.serve(streaming(probe.at));
  const request = await probe.at.transport.next();
  const most = await probe.at.held();
  sendHello(request);
  await (await received(probing)).over;
  const { at, pauses } = await open({ balance: 2n * most - 1n });
  const serving = at.serve(streaming(at));
  const first = await at.transport.next();
  await pauses.end();
  await at.deps.ledger.flush();
  sendHello(first);
  await (await received(serving)).over;
  expect(at.transport.sent).toHaveLength(1);
  expect(at.calls[0]).toMatchObject({ attempts: 1, cost: COST });
  expect(at.deps.catalog.routing.targetState(at.deps.catalog.find(at.model)!.targets[1]!).inFlight).toBe(0);
  await expectSettled(at);
});

test('while both are called the hold covers both', async () => {
  const opened = await open();
  const { at } = opened;
  const serving = at.serve(streaming(at));
  const first = await at.transport.next();
  const once = await at.held();
  await opened.pauses.end();
  const second = await at.transport.next();
  expect(await at.held()).toBe(2n * once);
  sendHello(second);
  await (await received(serving)).over;
  expect(first.isStopped).toBe(true);
  await expectSettled(at);
});

describe('failures', () => {
  for (const failing of [0, 1]) {
    test(`where the ${failing === 0 ? 'first' : 'second'} fails the other answers, and alone is charged`, async () => {
      const opened = await open();
      const { at } = opened;
      const serving = at.serve(streaming(at));
      const pair = await bothSent(opened);
      pair[failing]!.answer(errorAnswer(500, 'broken'));
      sendHello(pair[1 - failing]!);
      const sink = await received(serving);
      expect(await sink.over).toBe('ended');
      expect(at.calls[0]).toMatchObject({
        outcome: 'ok',
        attempts: 2,
        cost: COST,
        provider: `p${1 - failing}-${at.model}`,
      });
      expect(at.calls[0]?.usage?.hedge).toBeUndefined();
      const { targets } = at.deps.catalog.find(at.model)!;
      expect(at.deps.catalog.routing.targetState(targets[failing]!).errorRate).toBe(1);
      await expectSettled(at);
    });
  }

  test('if both fail the third is tried; if all fail nothing is charged', async () => {
    const opened = await open({ targets: 3 });
    const { at } = opened;
    const serving = at.serve(chatRequest(at.model));
    const [first, second] = await bothSent(opened);
    second.answer(errorAnswer(500, 'second'));
    first.answer(errorAnswer(503, 'first'));
    const third = await at.transport.next();
    expect(third.host).toBe('p2.test');
    third.answer(errorAnswer(500, 'third'));
    expect((await serving).status).toBe(502);
    expect(at.calls[0]).toMatchObject({ outcome: 'failed', attempts: 3, cost: 0n });
    await expectSettled(at);
  });

  test('a refusal of the request by the first ends the call, one by the second does not', async () => {
    const refused = await open();
    const failing = refused.at.serve(chatRequest(refused.at.model));
    const [first, second] = await bothSent(refused);
    first.answer(errorAnswer(400, 'bad request'));
    expect((await failing).status).toBe(400);
    expect(second.isStopped).toBe(true);
    expect(refused.at.calls[0]?.cost).toBe(0n);
    await expectSettled(refused.at);
    const opened = await open();
    const serving = opened.at.serve(chatRequest(opened.at.model));
    const pair = await bothSent(opened);
    pair[1].answer(errorAnswer(400, 'bad request'));
    const slower = opened.at.deps.catalog.find(opened.at.model)!.targets[1]!;
    while (opened.at.deps.catalog.routing.targetState(slower).inFlight > 0) await Bun.sleep(1);
    pair[0].answer(wholeAnswer('Hello'));
    expect((await serving).status).toBe(200);
    expect(opened.at.calls[0]?.cost).toBe(COST);
    await expectSettled(opened.at);
  });

  test('a winner that breaks off later is charged with the other, and does not start a third', async () => {
    const opened = await open();
    const { at } = opened;
    const serving = at.serve(streaming(at));
    const [first, second] = await bothSent(opened);
    second.beginStream();
    second.pushEvents(role, hel);
    const sink = await received(serving);
    second.exchange.broke(new Error('cut'));
    expect(await sink.over).toBe('ended');
    expect(sink.text).toContain('"error"');
    expect(first.isStopped).toBe(true);
    expect(at.calls[0]).toMatchObject({
      outcome: 'broken',
      attempts: 2,
      usage: { output: 3, hedge: { usage: { output: 0 } } },
    });
    await expectSettled(at);
  });
});

for (const stream of [true, false]) {
  test(`a client that leaves cancels both and is charged both inputs (${stream ? '' : 'non-'}streaming)`, async () => {
    const opened = await open();
    const { at } = opened;
    const serving = at.serve(stream ? streaming(at) : chatRequest(at.model));
    const pair = await bothSent(opened);
    at.client.leave();
    await serving;
    expect(pair.map(({ isStopped }) => isStopped)).toEqual([true, true]);
    const [call] = at.calls;
    expect(call?.outcome).toBe('aborted');
    expect(call?.usage?.input).toBe(call?.usage?.hedge?.usage.input ?? 0);
    expect(call?.cost).toBe(2n * inputOf(at));
    await expectSettled(at);
    for (const target of at.deps.catalog.find(at.model)!.targets) {
      expect(at.deps.catalog.routing.targetState(target)).toMatchObject({ inFlight: 0, errorRate: 0 });
    }
  });
}

test('a client that has disconnected is not hedged, also if its call is read to the end', async () => {
  const { at, pauses } = await open({ model: { onDisconnect: 'drain' } });
  const serving = at.serve(chatRequest(at.model));
  const first = await at.transport.next();
  at.client.leave();
  await pauses.end();
  first.answer(wholeAnswer('Hello'));
  await serving;
  expect(at.transport.sent).toHaveLength(1);
  expect(at.calls[0]).toMatchObject({ outcome: 'aborted', cost: COST });
  await expectSettled(at);
});

test('if the filter of the faster target refuses, only the fallback model is charged', async () => {
  const small = await open();
  const large = await bench.open();
  const { targets } = small.at.deps.catalog.find(small.at.model)!;
  const rows = targets.map(({ provider }, priority) => ({ provider, model: 'upstream', priority }));
  const fallbacks = [{ model: large.model, on: ['content_filter'] }];
  await bench.change({ name: small.at.model, hedge: 'on', retries: 0, targets: rows, fallbacks });
  const { at } = small;
  const serving = at.serve(streaming(at));
  const [, second] = await bothSent(small);
  const filtered = JSON.parse(JSON.stringify(finish).replace('"stop"', '"content_filter"'));
  at.transport.script(streamAnswer(['Hel', 'lo']));
  second.beginStream();
  second.pushEvents(role, filtered);
  second.pushDone();
  await (await received(serving)).over;
  expect(at.calls[0]).toMatchObject({ outcome: 'ok', model: large.model, cost: COST });
  expect(at.calls[0]?.usage?.hedge).toBeUndefined();
  await expectSettled(at);
});

describe('the second request', () => {
  test('another credential of the only target', async () => {
    const { at, pauses } = await open({ targets: 1, credentials: 2 });
    const serving = at.serve(chatRequest(at.model));
    const first = await at.transport.next();
    await pauses.end();
    const second = await at.transport.next();
    const keys = [first, second].map(({ sending }) => sending.headers.authorization);
    expect(keys).toEqual(['Bearer sk-secret-0', 'Bearer sk-secret-1']);
    second.answer(wholeAnswer('Hello'));
    expect((await serving).status).toBe(200);
    await expectSettled(at);
  });

  test('none if there is one target with one credential', async () => {
    const { at, pauses } = await open({ targets: 1 });
    const serving = at.serve(chatRequest(at.model));
    const first = await at.transport.next();
    await pauses.end();
    first.answer(wholeAnswer('Hello'));
    expect((await serving).status).toBe(200);
    expect(at.transport.sent).toHaveLength(1);
    expect(await at.spent()).toBe(COST);
  });

  test('none for calls with provider tools or audio', async () => {
    for (const more of [
      { tools: [{ type: 'web_search' }] },
      { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    ]) {
      const { at, pauses } = await open({ settings: { unpricedExtras: 'allow' } });
      at.transport.script(wholeAnswer('Hello'));
      await at.serve(chatRequest(at.model, more));
      expect(pauses.requested).toEqual([]);
    }
  });

  test('at most a tenth of the calls of a minute, ten at least', async () => {
    const { at, pauses } = await open();
    for (let call = 1; call <= 12; call++) {
      const serving = at.serve(chatRequest(at.model));
      const first = await at.transport.next();
      await pauses.end();
      if (call <= 10) (await at.transport.next()).answer(wholeAnswer('Hello'));
      else first.answer(wholeAnswer('Hello'));
      expect((await serving).status).toBe(200);
    }
    expect(at.transport.sent).toHaveLength(22);
    await expectSettled(at);
  });

  test('the delay is what 95 of 100 took, and slower ones that lost count', async () => {
    const { at, pauses } = await open();
    const health = at.deps.catalog.routing.state.health(at.deps.catalog.find(at.model)!.targets[0]!);
    for (let i = 0; i < 19; i++) health.firstTokens.add(100);
    const serving = at.serve(streaming(at));
    const [first, second] = await bothSent({ at, pauses });
    at.turn(5000);
    sendHello(second);
    await (await received(serving)).over;
    expect(first.isStopped).toBe(true);
    expect(health.firstTokens.count).toBe(20);
    expect(health.firstTokens.percentile(1)).toBeWithin(5000, 6000);
    at.transport.script(streamAnswer(['Hello']));
    await (await received(at.serve(streaming(at)))).over;
    expect(pauses.requested).toHaveLength(2);
    expect(pauses.requested[1]).toBeWithin(100, 120);
  });
});
