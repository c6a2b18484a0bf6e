/** The official openai library with aimock, which drops, garbles, disconnects and rate limits at random. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Aimock, startAimock } from '../clients/aimock.ts';
import { type ClientView, type OpenaiClient, startOpenaiClient } from '../clients/openai-client.ts';
import { chatRequest } from '../helpers/chat-answers.ts';
import { costOf, nanoCost, type Scene, startScene } from '../helpers/scene.ts';

const CHAOS = 0.12;
const ROUNDS = 25;
const TEXT = 'Hello from aimock, with some words to stream.';

const FIXTURES = [
  {
    match: { userMessage: 'weather', hasToolResult: false },
    response: { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }] },
  },
  { match: { userMessage: 'weather', hasToolResult: true }, response: { content: 'It is sunny in Oslo.' } },
  { match: {}, response: { content: TEXT } },
];
const TOOLS = [
  {
    type: 'function',
    function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];

let scene: Scene;
let client: OpenaiClient;
let calm: Aimock;
let wild: Aimock;
beforeAll(async () => {
  [scene, client, calm, wild] = await Promise.all([
    startScene(),
    startOpenaiClient(),
    startAimock(FIXTURES, 0),
    startAimock(FIXTURES, CHAOS),
  ]);
}, 300_000);
afterAll(async () => {
  client.stop();
  await Promise.all([calm.stop(), wild.stop()]);
  await scene.close();
}, 60_000);

const stageAt = (...mocks: Aimock[]) => scene.stage({ baseUrls: mocks.map((mock) => `${mock.url}/v1`) });
const usage = { stream_options: { include_usage: true } };

test('without faults: non-streaming, streaming, by the helper, with tools', async () => {
  const stage = await stageAt(calm);
  const request = chatRequest(stage.model);
  for (const way of ['chat', 'stream', 'helper'] as const) {
    const view = await client.run({ way, ...stage.at, request: way === 'chat' ? request : { ...request, ...usage } });
    expect(view.choices[0]).toMatchObject({ text: TEXT, finish: 'stop' });
  }
  for (const stream of [false, true]) {
    const messages = [{ role: 'user', content: 'What is the weather?' }];
    const view = await client.run({
      way: 'tools',
      stream,
      ...stage.at,
      request: { ...request, messages, tools: TOOLS },
      results: { get_weather: 'sunny' },
    });
    expect(view.turns?.map((turn) => turn.finish)).toEqual(['tool_calls', 'stop']);
    expect(view.choices[0]?.text).toBe('It is sunny in Oslo.');
  }
  for (const call of await stage.settled()) expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
});

describe('with faults', () => {
  /** Either the complete answer or an error of the library: never a part of an answer, never a hang. */
  function assertEither(view: ClientView): void {
    if (view.error) {
      expect(view.error.isApiError).toBe(true);
      expect([null, 429, 502, 503]).toContain(view.error.status);
    } else expect(view.choices[0]).toMatchObject({ text: TEXT, finish: 'stop' });
  }

  for (const way of ['chat', 'stream', 'helper'] as const) {
    test(`${way}: every call succeeds or fails with an error, and only delivered output is charged`, async () => {
      let failed = 0;
      // A separate target for each call: repeated failures would start a cooldown.
      await Promise.all(
        Array.from({ length: ROUNDS }, async () => {
          const stage = await stageAt(wild);
          const view = await client.run({ way, ...stage.at, request: chatRequest(stage.model) });
          assertEither(view);
          const call = await stage.settledCall();
          expect(call.outcome === 'ok').toBe(view.error === undefined);
          if (call.outcome !== 'broken') expect(nanoCost(call) > 0n).toBe(call.outcome === 'ok');
          if (view.error) failed++;
        }),
      );
      expect(failed).toBeLessThan(ROUNDS);
      await scene.assertClean();
    }, 60_000);
  }

  test('a second target without faults hides every failure from the client', async () => {
    await Promise.all(
      Array.from({ length: ROUNDS }, async () => {
        const stage = await stageAt(wild, calm);
        const view = await client.run({ way: 'chat', ...stage.at, request: chatRequest(stage.model) });
        expect(view.error).toBeUndefined();
        expect(view.attempts).toBe(1);
        expect(await stage.settledCall()).toMatchObject({ outcome: 'ok' });
      }),
    );
    await scene.assertClean();
  }, 60_000);

  test.each(['drop', 'malformed', 'disconnect', 'rateLimit'] as const)(
    "the client's own retries succeed after two failures: %s",
    async (fault) => {
      const stage = await stageAt(calm);
      const before = await calm.requests();
      await calm.setFault(fault);
      const running = client.run(
        { way: 'chat', ...stage.at, request: chatRequest(stage.model), maxRetries: 8 },
        50_000,
      );
      while ((await calm.requests()) < before + 2) await Bun.sleep(10);
      await calm.setFault(undefined);
      const view = await running;
      expect(view.error).toBeUndefined();
      expect(view.attempts).toBeGreaterThan(1);
      const calls = await stage.settled();
      expect(calls.filter((call) => call.outcome === 'ok')).toHaveLength(1);
      expect(calls).toHaveLength(view.attempts);
    },
    60_000,
  );
});
