/** The official openai library with the running gateway and the sandbox. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import {
  type ClientView,
  type OpenaiClient,
  type OpenaiLibrary,
  type Scenario,
  startOpenaiClient,
} from '../clients/openai-client.ts';
import { chatRequest, streamAnswer } from '../helpers/chat-answers.ts';
import { type Scene, type Stage, startScene } from '../helpers/scene.ts';

const LIBRARIES: readonly OpenaiLibrary[] = ['openai', 'openai-6', 'openai-5', 'openai-4'];

let scene: Scene;
const clients = new Map<OpenaiLibrary, OpenaiClient>();
beforeAll(async () => {
  scene = await startScene();
  for (const library of LIBRARIES) clients.set(library, await startOpenaiClient(library));
}, 300_000);
afterEach(() => scene.assertClean());
afterAll(async () => {
  for (const client of clients.values()) client.stop();
  await scene.close();
}, 60_000);

function run(
  stage: Stage,
  scenario: Omit<Scenario, 'baseURL' | 'apiKey'> & Partial<Scenario>,
  library: OpenaiLibrary = 'openai',
): Promise<ClientView> {
  const client = clients.get(library);
  if (!client) throw new Error(`${library} is not started`);
  return client.run({ ...stage.at, ...scenario });
}

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather at a place.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};
for (const library of LIBRARIES) {
  describe(`${library} with the sandbox`, () => {
    const ask = (more = {}) =>
      chatRequest('sandbox-chat', { messages: [{ role: 'user', content: 'Tell me about bridges.' }], ...more });

    test('non-streaming, streaming and by the helper: the same answer, the same charge', async () => {
      const stage = await scene.stage();
      const request = ask({ seed: 7 });
      const whole = await run(stage, { way: 'chat', request }, library);
      const streamed = await run(
        stage,
        { way: 'stream', request: { ...request, stream_options: { include_usage: true } } },
        library,
      );
      const helped = await run(
        stage,
        { way: 'helper', request: { ...request, stream_options: { include_usage: true } } },
        library,
      );
      for (const view of [whole, streamed, helped]) {
        expect(view.error).toBeUndefined();
        expect(view.models).toEqual(['sandbox-chat']);
        expect(view.ids).toHaveLength(1);
        expect(view.choices[0]).toMatchObject({ text: whole.choices[0]?.text ?? '', finish: 'stop' });
        expect(view.usage).toEqual(whole.usage);
      }
      expect(whole.choices[0]?.text.length).toBeGreaterThan(10);
      expect(whole.requestId).toBeString();
      expect(streamed.choices[0]).toMatchObject({ roles: 1, finishes: 1 });
      expect(streamed.chunks).toBeGreaterThan(3);
      expect(streamed.usageChunks).toBe(1);
      const calls = await stage.settled();
      expect(new Set(calls.map((call) => call.cost)).size).toBe(1);
      expect(calls[0]?.id).toBe(whole.requestId ?? '');
      expect(whole.headers?.['x-modelport-cost']).toBe(calls[0]?.cost ?? '');
    });

    test('tools: a loop of two turns, non-streaming and streaming', async () => {
      const stage = await scene.stage();
      for (const stream of [false, true]) {
        const request = ask({
          tools: [WEATHER],
          messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
        });
        const view = await run(
          stage,
          { way: 'tools', stream, request, results: { get_weather: 'sunny, 21 degrees' } },
          library,
        );
        expect(view.error).toBeUndefined();
        expect(view.turns?.map((turn) => turn.finish)).toEqual(['tool_calls', 'stop']);
        const call = view.turns?.[0]?.calls[0];
        expect(call?.name).toBe('get_weather');
        expect(JSON.parse(call?.args ?? '')).toEqual({ city: expect.any(String) });
        expect(view.turns?.[1]?.text.length).toBeGreaterThan(0);
      }
    });

    test('structured output by a schema', async () => {
      const stage = await scene.stage();
      const view = await run(stage, { way: 'parse', schema: 'report', request: ask() }, library);
      expect(view.error).toBeUndefined();
      expect(view.parsed).toMatchObject({
        title: expect.any(String),
        score: expect.any(Number),
        nested: { ok: expect.any(Boolean) },
      });
    });

    test('errors have the right class', async () => {
      const stage = await scene.stage();
      const poor = await scene.stage({ amount: '0' });
      const cases: [Stage, Partial<Scenario>, object][] = [
        [stage, { apiKey: 'sk-wrong' }, { class: 'AuthenticationError', status: 401, code: 'invalid_api_key' }],
        [stage, { request: ask({ temperature: 3 }) }, { class: 'BadRequestError', status: 400, param: 'temperature' }],
        [
          stage,
          { request: ask({ model: 'Sandbox-Chat' }) },
          { class: 'NotFoundError', status: 404, code: 'model_not_found' },
        ],
        [poor, {}, { status: 402, code: 'insufficient_balance', type: 'insufficient_quota' }],
        [
          stage,
          { request: ask({ messages: [{ role: 'user', content: '[[fail 503]]' }] }) },
          { class: 'InternalServerError', status: 502 },
        ],
      ];
      for (const [where, more, error] of cases) {
        for (const way of ['chat', 'stream'] as const) {
          const view = await run(where, { way, request: ask(), ...more }, library);
          expect(view.error).toMatchObject({ isApiError: true, ...error });
          expect(view.error?.message).not.toMatch(/sk-wrong|<html/);
        }
      }
      for (const call of [...(await stage.settled()), ...(await poor.settled())]) expect(call.cost).toBe('0');
    });

    test('a stream that fails is an error and not a complete answer', async () => {
      const stage = await scene.stage();
      for (const way of ['stream', 'helper'] as const) {
        stage.script(streamAnswer(['one ', 'two ', 'three'], { paceMs: 20, fault: { before: 3, does: 'cut' } }));
        const view = await run(stage, { way, request: chatRequest(stage.model) }, library);
        expect(view.error).toBeDefined();
        expect(view.choices[0]?.text).toBe('one two ');
        expect(view.choices[0]?.finish ?? null).toBeNull();
      }
      for (const call of await stage.settled()) expect(call).toMatchObject({ outcome: 'broken' });
    });

    test('models are listed and retrieved', async () => {
      const stage = await scene.stage({ model: `provider/model-of-${library}` });
      const { list = [] } = await run(stage, { way: 'models' }, library);
      expect(list.map((model) => model.id)).toContain(stage.model);
      expect(list.map((model) => model.id)).toContain('sandbox-chat');
      expect(list.every((model) => model.object === 'model' && Number.isInteger(model.created))).toBe(true);
      const one = await run(stage, { way: 'model', model: stage.model }, library);
      expect(one.list?.[0]?.id).toBe(stage.model);
      const none = await run(stage, { way: 'model', model: 'no-such-model' }, library);
      expect(none.error).toMatchObject({ class: 'NotFoundError', code: 'model_not_found' });
    });
  });
}

describe('the sandbox: more features', () => {
  test('a reasoning model shows its reasoning, streaming and non-streaming', async () => {
    const stage = await scene.stage();
    for (const way of ['chat', 'stream', 'helper'] as const) {
      const view = await run(stage, { way, request: chatRequest('sandbox-reasoner') });
      expect(view.error).toBeUndefined();
      expect(view.choices[0]?.text.length).toBeGreaterThan(0);
      expect(view.choices[0]?.reasoning.length).toBeGreaterThan(0);
    }
    for (const call of await stage.settled()) expect(call.usage?.reasoning).toBeGreaterThan(0);
  });

  test('length: truncated at the token limit, and a parse reports it', async () => {
    const stage = await scene.stage();
    const view = await run(stage, { way: 'chat', request: chatRequest('sandbox-chat', { max_tokens: 3 }) });
    expect(view.choices[0]?.finish).toBe('length');
    expect(view.usage?.completion_tokens).toBeLessThanOrEqual(3);
    const parsed = await run(stage, {
      way: 'parse',
      schema: 'report',
      request: chatRequest('sandbox-chat', { max_tokens: 3 }),
    });
    expect(parsed.error?.class).toBe('LengthFinishReasonError');
  });

  test('a stop sequence ends the text before it', async () => {
    const stage = await scene.stage();
    const free = await run(stage, { way: 'chat', request: chatRequest('sandbox-chat') });
    const text = free.choices[0]?.text ?? '';
    const stop = text.split(' ')[3] ?? '';
    for (const way of ['chat', 'stream'] as const) {
      const view = await run(stage, { way, request: chatRequest('sandbox-chat', { stop: [stop] }) });
      expect(view.choices[0]).toMatchObject({ text: text.slice(0, text.indexOf(stop)), finish: 'stop' });
    }
  });

  test('a broken stream and a delay', async () => {
    const stage = await scene.stage();
    const say = (content: string) => chatRequest('sandbox-chat', { messages: [{ role: 'user', content }] });
    expect((await run(stage, { way: 'stream', request: say('[[cut]] Hello there') })).error).toBeDefined();
    const started = performance.now();
    expect((await run(stage, { way: 'chat', request: say('[[delay 300]] Hello') })).error).toBeUndefined();
    expect(performance.now() - started).toBeGreaterThan(290);
  });

  test('text completions: several prompts, echo, streaming and non-streaming', async () => {
    const stage = await scene.stage();
    const request = { model: 'sandbox-chat', prompt: ['One', 'Two'], echo: true, max_tokens: 20 };
    const whole = await run(stage, { way: 'completion', request });
    const streamed = await run(stage, { way: 'completion-stream', request });
    expect(whole.error).toBeUndefined();
    expect(whole.object).toBe('text_completion');
    expect(whole.choices.map((choice) => choice.index)).toEqual([0, 1]);
    expect(whole.choices[0]?.text).toStartWith('One');
    expect(whole.choices[1]?.text).toStartWith('Two');
    expect(streamed.choices.map((choice) => choice.text)).toEqual(whole.choices.map((choice) => choice.text));
  });
});
