import { describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { type CaseSetup, FakeSink, type GatewayCase, startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { ByteSource } from '../http1/answer.ts';
import type { CooldownChange } from '../routing/cooldown-change.ts';
import { createCredentials } from '../routing/credentials.ts';
import type { RoutedTarget } from '../routing/routed.ts';
import { RoutingState } from '../routing/routing-state.ts';
import { type CallTrace, createEvents, type EventSink } from './events.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

interface Listener {
  /** The events in order, with what matters of each. */
  readonly recorded: string[];
  readonly traces: CallTrace[];
  readonly sink: EventSink;
}

function listener(): Listener {
  const recorded: string[] = [];
  const traces: CallTrace[] = [];
  const sink: EventSink = {
    admitted: ({ hold }) =>
      void recorded.push(hold !== undefined && hold > 0n ? 'admitted' : 'admitted without a hold'),
    refused(call) {
      traces.push(call);
      recorded.push(`refused ${call.error?.status} ${call.error?.code}`);
    },
    attemptStarted: (_, { target }) => void recorded.push(`started ${target.provider.slice(0, 2)}`),
    attemptAnswered: (_, { status }) => void recorded.push(`answered ${status}`),
    attemptEnded: (_, { outcome, status, errorCode }) =>
      void recorded.push(`${outcome} ${status} ${errorCode ?? ''}`.trim()),
    ended(call, { outcome, attempts }) {
      traces.push(call);
      recorded.push(`ended ${outcome} ${attempts}`);
    },
    disputed: ({ id }) => void recorded.push(`disputed ${id === traces.at(-1)?.id}`),
  };
  return { recorded, traces, sink };
}

async function open(setup: CaseSetup = {}): Promise<GatewayCase & Listener> {
  const recorder = listener();
  const events = createEvents([recorder.sink], () => {});
  return { ...(await bench.open({ ...setup, deps: { ...setup.deps, events } })), ...recorder };
}

describe('the events of a call', () => {
  test('one that is answered', async () => {
    const at = await open();
    at.transport.script(wholeAnswer('Hello'));
    expect((await at.serve(chatRequest(at.model))).status).toBe(200);
    expect(at.recorded).toEqual(['admitted', 'started p0', 'answered 200', 'ok 200', 'ended ok 1']);
    const [trace] = at.traces;
    expect(trace?.attempts[0]?.credential).toBe('sk-secret-0');
    expect(trace?.model).toBe(at.model);
    expect(trace?.record?.cost).toBeGreaterThan(0n);
    expect(trace?.admittedMs).toBeGreaterThan(0);
  });

  test('one whose usage report is not believed, after its end', async () => {
    const at = await open();
    const usage = { prompt_tokens: 5_000_000, completion_tokens: 9_000_000, total_tokens: 14_000_000 };
    at.transport.script({ json: { ...(wholeAnswer('Hello').json as object), usage } });
    await at.serve(chatRequest(at.model));
    expect(at.recorded.slice(-2)).toEqual(['ended disputed 1', 'disputed true']);
  });

  test('one that fails before a fallback is reported with its error, without secrets', async () => {
    const at = await open({ targets: 2 });
    at.transport.script(errorAnswer(500, 'the key sk-secret-0 broke'), wholeAnswer('Hello'));
    await at.serve(chatRequest(at.model));
    expect(at.recorded).toEqual([
      'admitted',
      'started p0',
      'failed 500 upstream_failed',
      'started p1',
      'answered 200',
      'ok 200',
      'ended ok 2',
    ]);
    const [failed] = at.traces[0]?.attempts ?? [];
    expect(failed?.message).toBeString();
    expect(failed?.message).not.toContain('sk-secret-0');
    expect(failed?.endedAt).toBeGreaterThan(0);
  });

  test('a stream that breaks off', async () => {
    const at = await open();
    at.transport.script((request) => {
      request.take();
      request.beginStream();
      request.pushEvents(...(streamAnswer(['Hello']).events ?? []).slice(0, 2));
    });
    const sink = new FakeSink();
    ((await at.serve(chatRequest(at.model, { stream: true }))).body as ByteSource).start(sink);
    at.transport.sent[0]?.exchange.broke(new Error('cut'));
    await sink.over;
    expect(at.recorded.slice(0, 3)).toEqual(['admitted', 'started p0', 'answered 200']);
    expect(at.recorded.slice(3)).toEqual(['failed 200 upstream_failed', 'ended broken 1']);
  });

  test('those that are refused, with the reason', async () => {
    const at = await open();
    await at.serve(chatRequest('no-such-model'));
    await at.serve(chatRequest(at.model), { key: 'mp-wrong' });
    expect(at.recorded).toEqual(['refused 404 model_not_found', 'refused 401 invalid_api_key']);
    expect(at.traces.map(({ account }) => account)).toEqual([at.caller.account, undefined]);
    expect(at.traces[0]?.model).toBe('no-such-model');
    const poor = await open({ balance: 1n });
    await poor.serve(chatRequest(poor.model));
    expect(poor.recorded).toEqual(['refused 402 insufficient_balance']);
    const limited = await open({ key: { requestsPerMinute: 1 } });
    limited.transport.script(wholeAnswer('Hello'));
    await limited.serve(chatRequest(limited.model));
    await limited.serve(chatRequest(limited.model));
    expect(limited.recorded.at(-1)).toBe('refused 429 rate_limited');
  });
});

test('a sink that throws is reported, and neither the call nor other sinks notice', async () => {
  const recorder = listener();
  const faults: unknown[] = [];
  const broken: EventSink = {
    ended() {
      throw new Error('the disk is full');
    },
  };
  const events = createEvents([broken, recorder.sink], (thrown) => void faults.push(thrown));
  const at = await bench.open({ deps: { events } });
  at.transport.script(wholeAnswer('Hello'));
  expect((await at.serve(chatRequest(at.model))).status).toBe(200);
  expect(recorder.recorded.at(-1)).toBe('ended ok 1');
  expect(faults).toHaveLength(1);
});

describe('cooldowns', () => {
  test('a target that fails, is tried in vain and recovers', () => {
    const changes: CooldownChange[] = [];
    let now = 1_000_000;
    const state = new RoutingState<RoutedTarget>({ cooldown: (change) => void changes.push(change), now: () => now });
    const health = state.health({ id: 'main/gpt', provider: 'main', credentials: ['k'], priority: 0, weight: 1 });
    for (let failure = 0; failure < 5; failure++) health.failed(now, false);
    now += 2000;
    health.failed(now, true);
    now += 5000;
    health.succeeded(now, true);
    const target = { provider: 'main', target: 'main/gpt' };
    expect(changes).toEqual([
      { ...target, reason: 'failing', seconds: 1 },
      { ...target, reason: 'failing', seconds: 2 },
      { ...target, reason: 'recovered', seconds: 0 },
    ]);
  });

  test('a limited credential is reported once, by its position and not by its value', () => {
    const changes: CooldownChange[] = [];
    const credentials = createCredentials({ cooldown: (change) => void changes.push(change) });
    const target = { id: 'main/gpt', provider: 'main', credentials: ['one', 'two'] };
    const error = new GatewayError('rate_limited', 'slow down', { retryAfterSeconds: 7 });
    credentials.failed(target, 'two', error, 1_000_000);
    credentials.failed(target, 'two', error, 1_000_001);
    expect(changes).toEqual([{ provider: 'main', target: 'main/gpt', place: 2, reason: 'limited', seconds: 7 }]);
  });
});
