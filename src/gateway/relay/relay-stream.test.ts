import { describe, expect, jest, spyOn, test } from 'bun:test';
import { chatRequest, streamAnswer, USED } from '../../../test/helpers/chat-answers.ts';
import type { SentRequest } from '../../../test/helpers/fake-transport.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ByteSource } from '../../http1/answer.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import { estimateTokens } from '../../ledger/tokens/estimate-tokens.ts';
import { admit } from '../admit/admit.ts';
import { attempt } from '../attempt/attempt.ts';
import { type CallContext, conclude } from '../call-context.ts';
import { rivalCost, withRival } from '../settle/rival.ts';
import { IdleStreams } from './idle-streams.ts';
import { StreamRelay } from './relay-stream.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

/** What `USAGE` costs. */
const COST = BigInt(USED.input) * 1000n + BigInt(USED.output) * 4000n;
const [role, hel, lo, finish, usage] = streamAnswer(['Hel', 'lo']).events ?? [];

interface Streaming extends GatewayCase {
  context: CallContext;
  request: SentRequest;
  relay: StreamRelay;
  sink: FakeSink;
  idleStreams: IdleStreams;
}

/** A stream that has begun with its first text. */
async function streaming(setup: CaseSetup = {}, members: object = {}): Promise<Streaming> {
  const at = await bench.open(setup);
  const body = chatRequest(at.model, { stream: true, stream_options: { include_usage: true }, ...members });
  const context = await admit(at.deps, at.pendingCall(body), at.underWay);
  const starting = attempt(at.deps, context);
  const request = await at.transport.next();
  request.beginStream();
  request.pushEvents(role, hel);
  const idleStreams = new IdleStreams(60_000);
  const relay = new StreamRelay(at.deps, context, await starting, idleStreams);
  const sink = new FakeSink();
  relay.start(sink);
  return { ...at, context, request, relay, sink, idleStreams };
}

describe('a stream', () => {
  test('is sent on as it arrives, and its last bytes are sent when it is settled', async () => {
    const at = await streaming();
    expect(at.sink.text).toContain('Hel');
    at.request.pushEvents(lo, finish, usage);
    at.request.push('data: [DONE]\n\n');
    at.request.exchange.finish();
    expect(at.sink.text).toContain('"lo"');
    // The end has come from upstream; nothing is recorded yet, and the client has not received it.
    expect(at.calls).toEqual([]);
    expect(at.sink.text).not.toContain('[DONE]');
    expect(await at.sink.over).toBe('ended');
    expect(at.sink.text).toEndWith('data: [DONE]\n\n');
    expect(at.calls.map(({ outcome, cost }) => [outcome, cost])).toEqual([['ok', COST]]);
    expect(await at.spent()).toBe(COST);
    expect(await at.held()).toBe(0n);
  });

  test("keeps of the client's body only its size, which estimates need", async () => {
    const at = await bench.open();
    const body = chatRequest(at.model, { stream: true });
    const context = await admit(at.deps, at.pendingCall(body), at.underWay);
    const estimate = estimateTokens(context.call);
    const starting = attempt(at.deps, context);
    const request = await at.transport.next();
    request.beginStream();
    request.pushEvents(role, hel);
    const relay = new StreamRelay(at.deps, context, await starting, new IdleStreams(60_000));
    const size = context.call.origin.body.length;
    relay.start(new FakeSink());
    expect(size).toBeGreaterThan(0);
    expect(context.call.origin).toMatchObject({ body: new Uint8Array(), bodyBytes: size, unsaid: undefined });
    expect(estimateTokens(context.call)).toEqual(estimate);
  });

  test("keeps the client's body where another target may be asked to go on", async () => {
    const at = await streaming({ model: { continuation: 'prefill' } });
    expect(at.context.call.origin.body.length).toBeGreaterThan(0);
  });

  test('that cannot be settled is not ended as if it were complete', async () => {
    const at = await streaming();
    at.deps.ledger = { ...at.deps.ledger, settle: () => Promise.reject(new Error('no database')) };
    at.request.pushEvents(finish, usage);
    at.request.pushDone();
    await at.sink.over;
    expect(at.sink.text).not.toContain('[DONE]');
    expect(at.sink.text).toContain('"error"');
  });

  test('that its upstream interrupts ends with an error and no terminator; what was delivered is charged', async () => {
    const at = await streaming();
    at.request.exchange.broke(new Error('cut'));
    expect(await at.sink.over).toBe('ended');
    expect(at.sink.text).toContain('"error"');
    expect(at.sink.text).not.toContain('[DONE]');
    expect(at.calls[0]).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
    expect(await at.spent()).toBe(at.calls[0]?.cost ?? 0n);
    expect(await at.spent()).toBeGreaterThanOrEqual(3n * 4000n);
    expect(await at.held()).toBe(0n);
  });

  test.each([
    ['sse', 3],
    ['json-array', 2],
  ])(
    'of Gemini (%s) that breaks off leaves the client time to read the error before its connection ends',
    async (framing, steps) => {
      const at = await bench.open();
      const body = { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] };
      const path = { model: at.model, action: 'streamGenerateContent' };
      const query = new URLSearchParams(framing === 'sse' ? { alt: 'sse' } : {});
      const answering = at.serve(body, { dialect: 'gemini', path, query });
      const request = await at.transport.next();
      request.beginStream();
      request.pushEvents(role, hel);
      const sink = new FakeSink();
      ((await answering).body as ByteSource).start(sink);
      const times: number[] = [];
      const write = sink.write.bind(sink);
      sink.write = (bytes) => {
        if (Buffer.from(bytes).includes('"error"')) times.push(performance.now());
        return write(bytes);
      };
      request.exchange.broke(new Error('cut'));
      expect(await sink.over).toBe('failed');
      times.push(performance.now());
      expect(times).toHaveLength(steps);
      for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThan(400);
    },
  );

  test('whose upstream falls silent ends with an error at the limit', async () => {
    const at = await streaming();
    at.transport.pass(60_000);
    expect(at.context.concluded).toBeUndefined();
    at.transport.pass(120_000);
    await at.sink.over;
    expect(at.calls[0]).toMatchObject({ outcome: 'broken', errorCode: 'upstream_timeout' });
    expect(at.request.isStopped).toBe(true);
  });

  test('that a stop has concluded, because its client does not read, waits for nothing when its connection is closed', async () => {
    const at = await streaming();
    const left = spyOn(at.idleStreams, 'delete');
    at.sink.takes = false;
    at.request.pushEvents(lo);
    at.context.cancellation.cancel();
    await conclude(at.deps, at.context, { outcome: 'broken', status: 200 });
    expect(left).not.toHaveBeenCalled();
    at.relay.cancel();
    // Its timer would keep the process alive.
    expect(left).toHaveBeenCalledWith(at.relay);
    expect(at.calls).toHaveLength(1);
  });

  test('ends once: later events change nothing', async () => {
    const at = await streaming();
    at.request.pushEvents(finish, usage);
    at.request.pushDone();
    await at.sink.over;
    const { text } = at.sink;
    at.relay.failed(new GatewayError('upstream_failed', 'late'));
    at.relay.cancel();
    expect(at.sink.text).toBe(text);
    expect(at.calls).toHaveLength(1);
  });
});

describe('an event that cannot be read', () => {
  test('is left out of a text: the rest arrives, a comment reports it, and the reported usage is charged', async () => {
    const at = await streaming();
    at.request.push('data: {"id":"chatcmpl-upstream","choi\n\n');
    at.request.pushEvents(lo, finish, usage);
    at.request.pushDone();
    expect(await at.sink.over).toBe('ended');
    expect(at.sink.text).not.toContain('"choi\n');
    expect(at.sink.text).toContain('"lo"');
    expect(at.sink.text).toEndWith(
      ": modelport-warnings: One event of the provider's stream could not be read: some of the text is missing.\n\ndata: [DONE]\n\n",
    );
    expect(at.context.warnings).toHaveLength(1);
    expect(at.calls.map(({ outcome, cost }) => [outcome, cost])).toEqual([['ok', COST]]);
  });

  test('ends the stream with an error if the call has tools', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
    const at = await streaming({}, { tools });
    at.request.push('data: {"id":"chatcmpl-upstream","choi\n\n');
    at.request.pushEvents(lo, finish, usage);
    at.request.pushDone();
    await at.sink.over;
    expect(at.sink.text).toContain('"error"');
    expect(at.sink.text).not.toContain('[DONE]');
    expect(at.calls[0]).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
  });
});

describe('a client that leaves', () => {
  test('ends its upstream at once if the model is configured with abort; what was delivered is charged', async () => {
    const at = await streaming({ model: { onDisconnect: 'abort' } });
    at.relay.cancel();
    expect(at.request.isStopped).toBe(true);
    await at.context.concluded;
    expect(at.calls[0]).toMatchObject({ outcome: 'aborted', status: 499 });
    expect(at.calls[0]?.cost).toBeGreaterThan(0n);
    expect(await at.held()).toBe(0n);
  });

  test('has its upstream read to the end if the model is configured with drain: the reported usage is charged, nothing more is written', async () => {
    const at = await streaming({ model: { onDisconnect: 'drain' } });
    const { text } = at.sink;
    at.relay.cancel();
    expect(at.request.isStopped).toBe(false);
    at.request.pushEvents(lo, finish, usage);
    at.request.pushDone();
    await at.context.concluded;
    expect(at.sink.text).toBe(text);
    expect(at.calls[0]).toMatchObject({ outcome: 'aborted', status: 499, cost: COST });
  });

  test('after the last choice waits for its usage, also if the model is configured with abort', async () => {
    const at = await streaming({ model: { onDisconnect: 'abort' } });
    at.request.pushEvents(lo, finish);
    at.relay.cancel();
    expect(at.context.concluded).toBeUndefined();
    at.request.pushEvents(usage);
    at.request.pushDone();
    await at.context.concluded;
    expect(at.calls[0]?.cost).toBe(COST);
  });

  test('after the last choice waits for the usage that has arrived while the process was suspended', async () => {
    const at = await streaming({ model: { onDisconnect: 'abort' } });
    at.request.pushEvents(lo, finish);
    jest.useFakeTimers();
    try {
      at.relay.cancel();
      // The wait begins. After the suspension a timer that is due runs before what has arrived is read.
      jest.runOnlyPendingTimers();
      jest.runOnlyPendingTimers();
    } finally {
      jest.useRealTimers();
    }
    expect(at.context.concluded).toBeUndefined();
    at.request.pushEvents(usage);
    at.request.pushDone();
    await at.context.concluded;
    expect(at.calls[0]?.cost).toBe(COST);
  });

  test('after the last choice waits no longer than 2 s for its usage', async () => {
    const at = await streaming({ model: { onDisconnect: 'abort' } });
    at.request.pushEvents(lo, finish);
    jest.useFakeTimers();
    try {
      at.relay.cancel();
      jest.advanceTimersByTime(1999);
      expect(at.request.isStopped).toBe(false);
      jest.advanceTimersByTime(2);
    } finally {
      jest.useRealTimers();
    }
    expect(at.request.isStopped).toBe(true);
    await at.context.concluded;
    expect(at.calls[0]).toMatchObject({ outcome: 'aborted', usage: { source: 'counted' } });
  });
});

describe('a client that is slow', () => {
  test('makes its upstream wait until it has read what was sent', async () => {
    const at = await streaming();
    at.sink.takes = false;
    at.request.pushEvents(lo);
    at.request.pushEvents(lo);
    expect(at.sink.text.match(/"lo"/g)).toHaveLength(1);
    at.sink.takes = true;
    at.relay.resume();
    expect(at.sink.text.match(/"lo"/g)).toHaveLength(2);
  });

  test('does not count as silence of its upstream', async () => {
    const at = await streaming();
    at.sink.takes = false;
    at.request.pushEvents(lo);
    at.transport.pass(120_000);
    expect(at.context.concluded).toBeUndefined();
  });

  test('keeps its hold no longer than the maximum time of a call', async () => {
    const at = await streaming();
    at.sink.takes = false;
    at.request.pushEvents(lo);
    at.relay.tick(performance.now() + 300_000, 1e9);
    expect(at.context.concluded).toBeUndefined();
    at.relay.tick(performance.now() + 600_000, 1e9);
    await at.context.concluded;
    expect(at.calls[0]?.errorCode).toBe('upstream_timeout');
    expect(await at.held()).toBe(0n);
  });
});

test('keep-alives are sent after the configured silence, and not before', async () => {
  const at = await streaming();
  // Whole milliseconds: fractions would round to just below the time set.
  const sentAt = Math.ceil(performance.now());
  at.relay.tick(sentAt, 10_000);
  const { text } = at.sink;
  at.relay.tick(sentAt + 9000, 10_000);
  expect(at.sink.text).toBe(text);
  at.relay.tick(sentAt + 10_000, 10_000);
  expect(at.sink.text.length).toBeGreaterThan(text.length);
  expect(at.sink.text.slice(text.length)).toStartWith(':');
});

test('the checkpoint of a hedged stream in a price group is rounded up once, as its charge is', async () => {
  const at = await streaming();
  const { context } = at;
  context.model = { ...context.model, price: { ...context.model.price, factor: 1_000_001n } };
  const sent = { target: undefined, sendings: 1, cancellation: { sent: true } };
  context.rival = { asked: sent, beside: sent } as unknown as NonNullable<CallContext['rival']>;
  const checkpoints: bigint[] = [];
  at.deps.ledger = { ...at.deps.ledger, checkpoint: (_, cost) => void checkpoints.push(cost) };
  at.relay.tick(performance.now(), 1e9);
  const used = context.meter.soFar();
  const other = rivalCost(context.rival, context)!;
  expect(checkpoints).toEqual([charge(withRival(used, context.rival!, other), context.model.price)]);
  expect(charge(used, context.model.price) + other.cost - checkpoints[0]!).toBe(1n);
  // A usage report may claim anything: at most what is held for this request, and the other.
  context.covered = 5n;
  at.relay.tick(performance.now(), 1e9);
  expect(checkpoints[1]).toBe(5n + other.cost);
});

describe('a client that leaves a stream of images', () => {
  const sketch = { type: 'image_generation.partial_image', b64_json: 'iVBORw0KGgo=', partial_image_index: 0 };

  async function left(price: object, ...events: object[]): Promise<GatewayCase> {
    const at = await bench.open({ model: { kind: 'image', price } });
    const asked = { prompt: 'A cat', n: 2, size: '1024x1024', stream: true, partial_images: 1 };
    const context = await admit(at.deps, at.pendingCall({ model: at.model, ...asked }, 'openai-images'), at.underWay);
    const starting = attempt(at.deps, context);
    const request = await at.transport.next();
    if (events.length > 0) {
      request.beginStream();
      request.pushEvents(...events);
    }
    const relay = new StreamRelay(
      at.deps,
      context,
      events.length > 0 ? await starting : starting,
      new IdleStreams(60_000),
    );
    relay.start(new FakeSink());
    relay.cancel();
    await context.concluded;
    return at;
  }

  test.each<[string, object, bigint]>([
    ['by the image', { perImage: [{ size: '1024x1024', price: 0.04 }, { price: 0.02 }] }, 40_000_000n],
    ['by the token', { input: 0, imageOutput: 10 }, 12_900_000n],
  ])('pays the image of which it has seen a part: %s', async (_, price, cost) => {
    const at = await left(price, sketch);
    expect(at.calls).toMatchObject([{ outcome: 'aborted', cost, usage: { images: 1, source: 'counted' } }]);
    expect(await at.held()).toBe(0n);
  });

  const made = { type: 'image_generation.completed', b64_json: 'iVBORw0KGgo=' };

  test('pays a complete image once, and the part of another one', async () => {
    const imagesAfter = async (...events: object[]) =>
      (await left({ perImage: 0.04 }, ...events)).calls[0]?.usage?.images;
    expect(await imagesAfter(sketch, sketch, made)).toBe(1);
    expect(await imagesAfter(sketch, made, sketch)).toBe(2);
  });

  test('pays its input alone where it has seen nothing', async () => {
    const at = await left({ input: 1, perImage: 0.04 });
    expect(at.calls).toMatchObject([{ outcome: 'aborted', usage: { source: 'estimated' } }]);
    expect(at.calls[0]?.cost).toBeLessThan(1_000_000n);
  });
});
