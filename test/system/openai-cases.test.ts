/** The official openai library with answers scripted for each case: retries, pass-through, choices, calls, silence, aborts. */
import { describe, expect, test } from 'bun:test';
import { type ClientView, type Scenario, startOpenaiClient } from '../clients/openai-client.ts';
import { chatRequest, errorAnswer, streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { costOf, nanoCost, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';

const KEEP_ALIVE_MS = 200;
const scene = useScene({ environment: { MODELPORT_KEEP_ALIVE_MS: String(KEEP_ALIVE_MS) } });
const client = useClient(() => startOpenaiClient());

const run = (stage: Stage, scenario: Omit<Scenario, 'baseURL' | 'apiKey'>): Promise<ClientView> =>
  client.run({ ...stage.at, ...scenario });

const tool = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
});

describe('retries of client and gateway', () => {
  test('a temporary failure: the client retries, and the failed call is free', async () => {
    const stage = await scene.stage();
    stage.script(errorAnswer(503, 'busy'), wholeAnswer('Hello'));
    const view = await run(stage, { way: 'chat', request: chatRequest(stage.model), maxRetries: 2 });
    expect(view).toMatchObject({ attempts: 2, choices: [{ text: 'Hello' }] });
    const [failed, ok] = await stage.settled();
    expect(failed).toMatchObject({ outcome: 'failed', cost: '0' });
    expect(nanoCost(ok!)).toBe(costOf(USED));
  });

  test('another target answers: the client notices nothing, and one call is billed', async () => {
    const stage = await scene.stage({ targets: 2 });
    stage.scriptTarget(0, errorAnswer(503, 'busy'));
    stage.scriptTarget(1, wholeAnswer('Hello'));
    const view = await run(stage, { way: 'chat', request: chatRequest(stage.model), maxRetries: 2 });
    expect(view).toMatchObject({ attempts: 1, choices: [{ text: 'Hello' }] });
    expect(nanoCost(await stage.settledCall())).toBe(costOf(USED));
    expect(stage.journal()).toHaveLength(2);
  });

  test('every target is rate limited: RateLimitError, and retry-after is passed on and followed', async () => {
    const stage = await scene.stage({ targets: 2 });
    for (const target of [0, 1]) {
      stage.scriptTarget(target, errorAnswer(429, 'slow down', { headers: { 'retry-after': '1' }, repeat: true }));
    }
    const started = performance.now();
    const view = await run(stage, { way: 'chat', request: chatRequest(stage.model), maxRetries: 2 });
    expect(view.error).toMatchObject({ class: 'RateLimitError', status: 429 });
    expect(view.attempts).toBe(view.headers?.['x-should-retry'] === 'false' ? 1 : 3);
    expect(view.headers?.['retry-after']).toBeString();
    expect(performance.now() - started).toBeGreaterThan((view.attempts - 1) * 900);
  });

  test('an empty balance: one attempt, nothing sent upstream', async () => {
    const stage = await scene.stage({ amount: '0.000001' });
    const view = await run(stage, { way: 'chat', request: chatRequest(stage.model), maxRetries: 2 });
    expect(view.error).toMatchObject({ status: 402, type: 'insufficient_quota' });
    expect(view.attempts).toBe(1);
    expect(stage.journal()).toHaveLength(0);
  });

  test('many concurrent calls on a small balance: only what it covers is sent upstream', async () => {
    const stage = await scene.stage({ amount: '0.02' });
    stage.script(wholeAnswer('Hello', { repeat: true, fault: { before: 'headers', does: 200 } }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => stage.post('/v1/chat/completions', chatRequest(stage.model))),
    );
    const statuses = answers.map((answer) => answer.status);
    const served = statuses.filter((status) => status === 200).length;
    expect(served).toBeWithin(1, 6);
    expect(statuses.filter((status) => status === 402)).toHaveLength(20 - served);
    expect(stage.journal()).toHaveLength(served);
    for (const call of await stage.settled()) expect(nanoCost(call)).toBe(costOf(USED));
  });
});

describe('pass-through', () => {
  test('unknown members reach the provider and come back', async () => {
    const stage = await scene.stage();
    stage.script({
      json: { ...(wholeAnswer('Hi').json as object), future_member: { a: [1] }, system_fingerprint: 'fp_1' },
    });
    const request = chatRequest(stage.model, { future_option: { deep: [1, { x: null }] }, metadata: { a: 'b' } });
    const response = await stage.post('/v1/chat/completions', request);
    expect(await response.json()).toMatchObject({
      future_member: { a: [1] },
      system_fingerprint: 'fp_1',
      model: stage.model,
    });
    expect(stage.journal()[0]?.body).toEqual({ ...request, model: 'upstream-model' });
    const headers = stage.journal()[0]?.headers ?? {};
    expect(headers.authorization).toStartWith('Bearer sk-upstream-secret');
    expect(JSON.stringify(headers)).not.toContain(stage.caller.key);
  });

  test('the usage chunk is sent only if requested, and the charge is always right', async () => {
    const stage = await scene.stage();
    for (const includesUsage of [true, false]) {
      stage.script(streamAnswer(['Hi']));
      const view = await run(stage, {
        way: 'stream',
        request: chatRequest(stage.model, includesUsage ? { stream_options: { include_usage: true } } : {}),
      });
      expect(view.usageChunks).toBe(includesUsage ? 1 : 0);
      expect(stage.journal().at(-1)?.body?.stream_options).toEqual({ include_usage: true });
    }
    for (const call of await stage.settled()) expect(nanoCost(call)).toBe(costOf(USED));
  });

  test('two choices, non-streaming and streaming: both arrive completely, one charge', async () => {
    const stage = await scene.stage();
    const choice = (index: number) => ({
      index,
      message: { role: 'assistant', content: `Choice ${index}` },
      finish_reason: 'stop',
    });
    const { json } = wholeAnswer('');
    stage.script({ json: { ...(json as object), choices: [choice(0), choice(1)] } });
    const { events = [] } = streamAnswer(['']);
    const delta = (index: number, value: object, finish: string | null = null) => ({
      ...(events[0] as object),
      choices: [{ index, delta: value, finish_reason: finish }],
    });
    const role = { role: 'assistant', content: '' };
    const mixed = [
      delta(0, role),
      delta(1, role),
      delta(1, { content: 'Choice ' }),
      delta(0, { content: 'Choice ' }),
      delta(0, { content: '0' }),
      delta(1, { content: '1' }),
      delta(1, {}, 'stop'),
      delta(0, {}, 'stop'),
      events.at(-1),
    ];
    stage.script({ events: mixed });
    for (const way of ['chat', 'helper'] as const) {
      const view = await run(stage, { way, request: chatRequest(stage.model, { n: 2 }) });
      expect(view.choices.map(({ text, finish }) => [text, finish])).toEqual([
        ['Choice 0', 'stop'],
        ['Choice 1', 'stop'],
      ]);
    }
    for (const call of await stage.settled()) expect(nanoCost(call)).toBe(costOf(USED));
  });

  test('parallel calls in a loop: ids unchanged, results directly after the calls', async () => {
    const stage = await scene.stage();
    const calls = ['call_A1', 'call_B2'].map((id, index) => ({
      id,
      type: 'function',
      function: { name: index === 0 ? 'get_weather' : 'get_time', arguments: index === 0 ? '{"city":"Oslo"}' : '{}' },
    }));
    const message = { role: 'assistant', content: null, tool_calls: calls };
    stage.script({
      json: { ...(wholeAnswer('').json as object), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
    });
    stage.script(wholeAnswer('It is sunny at noon.'));
    const request = chatRequest(stage.model, {
      tools: [tool('get_weather'), tool('get_time')],
      parallel_tool_calls: true,
    });
    const view = await run(stage, { way: 'tools', request, results: { get_weather: 'sunny', get_time: 'noon' } });
    expect(view.turns?.map((turn) => turn.finish)).toEqual(['tool_calls', 'stop']);
    expect(view.choices[0]?.text).toBe('It is sunny at noon.');
    const sent = stage.journal()[1]?.body?.messages as {
      role: string;
      tool_call_id?: string;
      content?: string;
      tool_calls?: { id: string }[];
    }[];
    expect(sent.map((each) => each.role)).toEqual(['user', 'assistant', 'tool', 'tool']);
    expect(sent[1]?.tool_calls?.map((call) => call.id)).toEqual(['call_A1', 'call_B2']);
    expect(sent.slice(2).map((each) => [each.tool_call_id, each.content])).toEqual([
      ['call_A1', 'sunny'],
      ['call_B2', 'noon'],
    ]);
  });

  test('silence before the first token and within the answer: comments keep the stream open, nothing else in the result', async () => {
    const stage = await scene.stage();
    for (const before of [0, 'headers', 2] as const) {
      stage.script(streamAnswer(['one ', 'two'], { fault: { before, does: 900 } }));
      stage.script(streamAnswer(['one ', 'two'], { fault: { before, does: 900 } }));
      const response = await stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }));
      const text = await response.text();
      const tookMs = Date.now() - (stage.journal().at(-1)?.atMs ?? 0);
      expect(text.match(/^: ?[^\n]*\n\n/gm)?.length ?? 0).toBeWithin(1, tookMs / KEEP_ALIVE_MS + 2);
      const view = await run(stage, { way: 'helper', request: chatRequest(stage.model) });
      expect(view).toMatchObject({ choices: [{ text: 'one two', finish: 'stop' }] });
    }
  }, 60_000);

  test('an abort during a stream: the upstream call ends and is billed once', async () => {
    const stage = await scene.stage();
    for (const way of ['stream', 'helper'] as const) {
      stage.script(streamAnswer(['one ', 'two ', 'three'], { fault: { before: 3, does: 'silence' } }));
      const view = await run(stage, { way, request: chatRequest(stage.model), abortAfter: 3 });
      expect(view.chunks).toBe(3);
      const left = performance.now();
      while (!stage.journal().at(-1)?.endedMs && performance.now() - left < 15_000) await Bun.sleep(10);
      expect(stage.journal().at(-1)?.aborted).toBe(true);
    }
    const calls = await stage.settled();
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(call.outcome).toBe('aborted');
      expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
    }
  });
});
