/** Text completions: recorded ones pass through, and chat-only models support them too. */
import { describe, expect, test } from 'bun:test';
import { startOpenaiClient } from '../clients/openai-client.ts';
import { streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { hasFixtures, type RecordedCase, recordedCases, requestBytes } from '../helpers/fixtures.ts';
import { recordedUsage } from '../helpers/recorded-usage.ts';
import { costOf, nanoCost } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { CHUNKINGS } from '../upstream/answer.ts';

const scene = useScene();
const client = useClient(startOpenaiClient);

const OPENAI = { type: 'openai', upstreamModel: 'gpt-3.5-turbo-instruct' };

/** As many prompts and choices as in the recorded request: a provider must not send more. */
function countsOf(recorded: RecordedCase): { prompt: string[]; n?: number } {
  const { prompt, n } = JSON.parse(Buffer.from(requestBytes(recorded) ?? '{}').toString()) as {
    prompt?: unknown;
    n?: number;
  };
  const count = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;
  return { prompt: Array.from({ length: count }, () => 'Hello'), ...(n !== undefined && { n }) };
}

test.skipIf(!hasFixtures)(
  'recorded replies reach the user unchanged',
  async () => {
    for (const recorded of recordedCases('openai-completions')) {
      const stage = await scene.stage(OPENAI);
      const way = recorded.stream ? 'completion-stream' : 'completion';
      const request = {
        ...countsOf(recorded),
        max_tokens: 50,
        stream_options: recorded.stream ? { include_usage: true } : undefined,
      };
      const prefix = '/direct/';
      scene.upstream.script(prefix, { fixture: recorded.file });
      const direct = await client.run({
        way,
        baseURL: `${scene.upstream.url}/direct/v1`,
        apiKey: 'sk-fake',
        request: { ...request, model: 'x' },
      });
      for (const chunking of recorded.stream ? CHUNKINGS : CHUNKINGS.slice(0, 1)) {
        stage.script({ fixture: recorded.file, chunking });
        const view = await client.run({ way, ...stage.at, request: { ...request, model: stage.model } });
        expect(view.error?.message).toBe(direct.error?.message);
        expect({ choices: view.choices, usage: view.usage, object: view.object }).toEqual({
          choices: direct.choices,
          usage: direct.usage,
          object: direct.object,
        });
        const sent = stage.journal().at(-1);
        expect(sent?.path).toEndWith('/v1/completions');
        expect(sent?.body).toMatchObject({ model: 'gpt-3.5-turbo-instruct', prompt: request.prompt });
      }
      const usage = recordedUsage(recorded);
      for (const call of await stage.settled()) if (usage) expect(nanoCost(call)).toBe(costOf(usage));
    }
  },
  60_000,
);

describe('with a chat-only model', () => {
  /** A row of the table that supports only chat. */
  const CHAT_ONLY = { type: 'xai', upstreamModel: 'grok-2' };

  test('a prompt becomes a user turn and its answer a text, non-streaming and streaming', async () => {
    const stage = await scene.stage(CHAT_ONLY);
    stage.script(wholeAnswer(' there was a bridge.'), streamAnswer([' there was', ' a bridge.']));
    const request = { model: stage.model, prompt: 'Once upon a time', max_tokens: 40, temperature: 0.5 };
    for (const way of ['completion', 'completion-stream'] as const) {
      const view = await client.run({ way, ...stage.at, request });
      expect(view).toMatchObject({
        object: 'text_completion',
        choices: [{ index: 0, text: ' there was a bridge.', finish: 'stop' }],
      });
      const sent = stage.journal().at(-1);
      expect(sent?.path).toEndWith('/chat/completions');
      expect(sent?.body).toMatchObject({ messages: [{ role: 'user', content: 'Once upon a time' }], temperature: 0.5 });
    }
    for (const call of await stage.settled()) expect(nanoCost(call)).toBe(costOf(USED));
  });

  test('several prompts are several upstream calls, choices in one list, one call, the sum charged', async () => {
    const stage = await scene.stage(CHAT_ONLY);
    stage.script({ ...wholeAnswer('answer'), repeat: true });
    const request = { model: stage.model, prompt: ['One', 'Two', 'Three'], echo: true };
    const view = await client.run({ way: 'completion', ...stage.at, request });
    expect(view.choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'Oneanswer'],
      [1, 'Twoanswer'],
      [2, 'Threeanswer'],
    ]);
    expect(stage.journal()).toHaveLength(3);
    expect(nanoCost(await stage.settledCall())).toBe(3n * costOf(USED));
  });

  test('token ids are not supported: a 400 that names the member, nothing sent', async () => {
    const stage = await scene.stage(CHAT_ONLY);
    const view = await client.run({
      way: 'completion',
      ...stage.at,
      request: { model: stage.model, prompt: [1, 2, 3] },
    });
    expect(view.error).toMatchObject({ class: 'BadRequestError', status: 400, param: 'prompt' });
    expect(stage.journal()).toHaveLength(0);
  });
});

test('mistyped or out-of-range members are named before anything is sent', async () => {
  const stage = await scene.stage(OPENAI);
  const wrong: [object, string][] = [
    [{ prompt: undefined }, 'prompt'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ top_p: -0.1 }, 'top_p'],
    [{ n: 0 }, 'n'],
    [{ max_tokens: 'many' }, 'max_tokens'],
    [{ stream: 'yes' }, 'stream'],
  ];
  for (const [more, param] of wrong) {
    const response = await stage.post('/v1/completions', { model: stage.model, prompt: 'x', ...more });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: object }).error).toMatchObject({ code: 'invalid_request', param });
  }
  expect(stage.journal()).toHaveLength(0);
  expect(await stage.settled()).toHaveLength(0);
});
