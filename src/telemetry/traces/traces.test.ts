import { describe, expect, test } from 'bun:test';
import { callRow } from '../../../test/helpers/call-row.ts';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { type CaseSetup, FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import { type CollectedSpan, startCollector } from '../../../test/helpers/otlp-collector.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ByteSource } from '../../http1/answer.ts';
import { createTransport } from '../../transport/transport.ts';
import { CallTrace, createEvents } from '../events.ts';
import type { CallSpan } from './call-span.ts';
import { createSampler } from './sampler.ts';
import { createTraceSink } from './trace-sink.ts';
import { createTracing, type TraceSettings, type Tracing } from './tracing.ts';

const bench = forTests(startGatewayBench, (started) => started.close());
const collector = forTests(
  () => Promise.resolve(startCollector()),
  (started) => started.stop(),
);

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const from = (flags: string) => ({ traceparent: `00-${TRACE}-${PARENT}-${flags}`, tracestate: 'vendor=1,other=2' });
const BOUND_MS = 30_000;

interface Traced extends GatewayCase {
  readonly tracing: Tracing;
  /** What was exported of these calls. */
  exported(): Promise<CollectedSpan[]>;
  /** Headers of the requests to the providers. */
  sent(): { [name: string]: string }[];
}

async function open(settings: Partial<TraceSettings> = {}, setup: CaseSetup = {}): Promise<Traced> {
  const tracing = createTracing(
    {
      url: collector.url,
      headers: { authorization: 'Basic cGs6c2s=', 'x-langfuse-ingestion-version': '4' },
      timeoutMs: BOUND_MS,
      resource: { 'service.name': 'modelport', 'deployment.environment.name': 'test' },
      sampler: 'parentbased_always_on',
      ratio: 1,
      slowMs: 0,
      ...settings,
    },
    createTransport(),
    { version: '1.2.3', instance: 'one', lost: () => {} },
  );
  const events = createEvents([tracing.sink], (thrown) => {
    throw thrown;
  });
  const at = await bench.open({ ...setup, deps: { events } });
  const before = collector.spans.length;
  return {
    ...at,
    tracing,
    sent: () => at.transport.sent.map(({ sending }) => sending.headers),
    async exported() {
      await tracing.drain(BOUND_MS);
      return collector.spans.slice(before);
    },
  };
}

describe('the trace of a call', () => {
  test('continues that of the client, and the provider continues ours', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('a secret answer'));
    await at.serve(chatRequest(at.model), { headers: from('01') });
    const [call, attempt, ...more] = await at.exported();
    expect(more).toEqual([]);
    expect(call).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'vendor=1,other=2', kind: 2 });
    expect(attempt).toMatchObject({ traceId: TRACE, parentSpanId: call?.spanId, kind: 3 });
    expect(new Set([PARENT, call?.spanId, attempt?.spanId]).size).toBe(3);
    const [headers] = at.sent();
    expect(headers?.traceparent).toBe(`00-${TRACE}-${attempt?.spanId}-01`);
    expect(headers?.tracestate).toBe('vendor=1,other=2');
  });

  test('has the names of the GenAI conventions, and neither prompt nor answer', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('a secret answer'));
    await at.serve(chatRequest(at.model));
    const [call, attempt] = await at.exported();
    expect(call?.name).toBe(`chat ${at.model}`);
    expect(call?.parentSpanId).toBeUndefined();
    expect(call?.status).toBeUndefined();
    expect(call?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': at.model,
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'gen_ai.usage.cost': expect.any(Number),
      'http.response.status_code': 200,
      'modelport.outcome': 'ok',
      'modelport.attempts': 1,
      'modelport.account': at.caller.account,
    });
    expect(attempt?.name).toBe(`chat ${attempt?.attributes['gen_ai.request.model']}`);
    expect(attempt?.attributes).toMatchObject({
      'gen_ai.provider.name': expect.any(String),
      'gen_ai.request.model': expect.any(String),
      'modelport.provider': expect.any(String),
      'modelport.outcome': 'ok',
      'http.response.status_code': 200,
    });
    expect(collector.resource).toEqual({
      'service.name': 'modelport',
      'deployment.environment.name': 'test',
      'service.version': '1.2.3',
      'service.instance.id': 'one',
    });
    const { body, headers } = collector.requests.at(-1) ?? { body: '', headers: new Headers() };
    expect(headers.get('authorization')).toBe('Basic cGs6c2s=');
    expect(body).not.toContain('secret');
  });

  test('shows an attempt that failed before a fallback', async () => {
    const at = await open({}, { targets: 2 });
    at.transport.script(errorAnswer(500, 'broken'), wholeAnswer('Hello'));
    await at.serve(chatRequest(at.model));
    const [call, failed, answered] = await at.exported();
    expect(call?.status).toBeUndefined();
    expect(call?.attributes['modelport.attempts']).toBe(2);
    expect(failed).toMatchObject({ parentSpanId: call?.spanId, status: { code: 2 } });
    expect(failed?.attributes).toMatchObject({ 'error.type': 'upstream_failed', 'http.response.status_code': 500 });
    expect(answered).toMatchObject({ parentSpanId: call?.spanId });
    expect(answered?.status).toBeUndefined();
    const parents = at.sent().map(({ traceparent }) => traceparent?.split('-')[2]);
    expect(parents).toEqual([failed?.spanId, answered?.spanId]);
  });

  test('of a stream has the time of its first token', async () => {
    const at = await open();
    at.transport.script(streamAnswer(['Hel', 'lo']));
    const sink = new FakeSink();
    ((await at.serve(chatRequest(at.model, { stream: true }))).body as ByteSource).start(sink);
    await sink.over;
    const [call] = await at.exported();
    expect(call?.attributes['gen_ai.response.time_to_first_chunk']).toBeNumber();
    expect(call?.attributes['langfuse.observation.completion_start_time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(call?.attributes['modelport.stream']).toBe(true);
  });

  test('that was refused has no name of a model that a client made up', async () => {
    const at = await open();
    await at.serve(chatRequest('made-up'), { headers: from('01') });
    const [call, ...more] = await at.exported();
    expect(more).toEqual([]);
    expect(call).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, name: 'chat' });
    expect(call?.attributes).toMatchObject({ 'error.type': 'model_not_found', 'http.response.status_code': 404 });
    expect(JSON.stringify(call)).not.toContain('made-up');
  });
});

describe('sampling', () => {
  test('a client that is not sampled is honoured, and its flag is passed on', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('Hello'));
    await at.serve(chatRequest(at.model), { headers: from('00') });
    expect(await at.exported()).toEqual([]);
    expect(at.sent()[0]?.traceparent).toStartWith(`00-${TRACE}-`);
    expect(at.sent()[0]?.traceparent).toEndWith('-00');
  });

  test('a failed call is exported although it was not sampled', async () => {
    const at = await open({ sampler: 'traceidratio', ratio: 0 }, { model: { retries: 0 } });
    at.transport.script(wholeAnswer('Hello'), errorAnswer(400, 'no'), errorAnswer(500, 'broken'));
    for (let call = 0; call < 3; call++) await at.serve(chatRequest(at.model));
    const [call, attempt, ...more] = await at.exported();
    expect(more).toEqual([]);
    expect(call).toMatchObject({ flags: 0x100, status: { code: 2 } });
    expect(call?.attributes['modelport.outcome']).toBe('failed');
    expect(attempt?.attributes['http.response.status_code']).toBe(500);
  });

  test('so is one with a failed attempt, and nothing with always_off', async () => {
    for (const [sampler, spans] of [
      ['traceidratio', 3],
      ['always_off', 0],
    ] as const) {
      const at = await open({ sampler, ratio: 0 }, { targets: 2 });
      at.transport.script(errorAnswer(500, 'broken'), wholeAnswer('Hello'));
      await at.serve(chatRequest(at.model));
      expect(await at.exported()).toHaveLength(spans);
    }
  });

  test('so is a slow call, and not what a client did wrong', () => {
    const spans: string[] = [];
    const sink = createTraceSink({
      sampler: createSampler('traceidratio', 0),
      slowMs: 5000,
      export: (span) => void spans.push(span),
    });
    const ended = (durationMs: number, members: Parameters<typeof callRow>[0] | object = {}) => {
      const call = new CallTrace(
        createEvents([sink], () => {}),
        'req_1',
        0,
        'openai-chat',
      );
      call.admitted(1n);
      call.ended(callRow({ id: 'req_1', at: 0, durationMs, ...members }));
      return spans.splice(0).length;
    };
    expect(ended(4999)).toBe(0);
    expect(ended(5000)).toBe(1);
    expect(ended(1, { outcome: 'aborted' })).toBe(0);
    expect(ended(1, { outcome: 'refused' })).toBe(0);
    expect(ended(1, { outcome: 'disputed' })).toBe(1);
    const refused = (status: number) => {
      const call = new CallTrace(
        createEvents([sink], () => {}),
        'req_1',
        0,
        'openai-chat',
      );
      call.refused(new GatewayError('internal_error', 'x', { status }));
      return spans.splice(0).length;
    };
    expect([refused(429), refused(503)]).toEqual([0, 1]);
  });
});

describe('Langfuse', () => {
  /** As Langfuse reads a span: every number under `gen_ai.usage.` but the cost, or its own attribute instead. */
  function usageOf({ attributes }: CollectedSpan): { [kind: string]: number } {
    const own = attributes['langfuse.observation.usage_details'];
    if (typeof own === 'string') return JSON.parse(own);
    const usage = Object.entries(attributes).filter(
      ([name]) => name.startsWith('gen_ai.usage.') && name !== 'gen_ai.usage.cost',
    );
    return Object.fromEntries(usage.map(([name, value]) => [name.slice('gen_ai.usage.'.length), Number(value)]));
  }

  test('counts each token and the cost once', async () => {
    const at = await open({}, { targets: 2 });
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    const answer = wholeAnswer('Hello');
    at.transport.script(errorAnswer(500, 'broken'), { ...answer, json: { ...(answer.json as object), usage } });
    await at.serve(chatRequest(at.model));
    const spans = await at.exported();
    const [call, ...attempts] = spans;
    expect(call && usageOf(call)).toEqual({
      input: 40,
      input_cached_tokens: 60,
      output: 30,
      output_reasoning_tokens: 20,
    });
    expect(spans.filter((span) => 'gen_ai.usage.cost' in span.attributes)).toHaveLength(1);
    for (const attempt of attempts) {
      expect(usageOf(attempt)).toEqual({});
      expect(attempt.attributes['langfuse.observation.type']).toBe('span');
    }
  });
});

test('without traces no call has a span, and providers are sent no traceparent', async () => {
  const spans: (CallSpan | undefined)[] = [];
  const at = await bench.open({
    deps: { events: createEvents([{ ended: ({ span }) => void spans.push(span) }], () => {}) },
  });
  at.transport.script(wholeAnswer('Hello'));
  await at.serve(chatRequest(at.model), { headers: from('01') });
  expect(spans).toEqual([undefined]);
  expect(at.transport.sent[0]?.sending.headers).not.toHaveProperty('traceparent');
});

test('an endpoint that takes the spans with a text that is too long is not sent them again', async () => {
  let requests = 0;
  const endpoint = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      requests++;
      return new Response('x'.repeat(200_000));
    },
  });
  const at = await open({ url: `http://127.0.0.1:${endpoint.port}/v1/traces` });
  at.transport.script(wholeAnswer('Hello'));
  await at.serve(chatRequest(at.model));
  await at.tracing.drain(BOUND_MS);
  const exported = at.tracing.families().find(({ name }) => name === 'modelport_spans_exported_total');
  expect([requests, exported?.samples[0]?.value]).toEqual([1, 2]);
  await endpoint.stop(true);
});
