/** A provider's reply with absurd indexes fails one call, not the process. */
import { describe, expect, test } from 'bun:test';
import { chatRequest, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';

const scene = useScene();

/** A gateway that makes room for fifty million choices takes longer. */
const HEALTH_MS = 3000;
const turn = { role: 'user', content: 'Say hello.' };

const asks: { [format: string]: (stage: Stage, stream: boolean) => Promise<Response> } = {
  chat: (stage, stream) => stage.post('/v1/chat/completions', chatRequest(stage.model, { stream })),
  messages: (stage, stream) =>
    fetch(`${scene.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': stage.caller.key,
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: stage.model, max_tokens: 50, messages: [turn], stream }),
    }),
  gemini: (stage, stream) =>
    stage.post(`/v1beta/models/${stage.model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
      contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
    }),
  responses: (stage, stream) => stage.post('/v1/responses', { model: stage.model, input: 'Say hello.', stream }),
};

/** The reply with this index in its first choice. */
function answerAt(index: unknown, stream: boolean): Answer {
  if (!stream) {
    const { json } = wholeAnswer('Hello') as { json: { choices: object[] } };
    return { json: { ...json, choices: json.choices.map((choice) => ({ ...choice, index })) } };
  }
  const { events = [] } = streamAnswer(['Hello', ' world']);
  const lie = (event: unknown) => {
    const { choices = [], ...rest } = event as { choices?: object[] };
    return { ...rest, choices: choices.map((choice) => ({ ...choice, index })) };
  };
  return { events: events.map((event, at) => (at === 2 ? lie(event) : event)) };
}

for (const [format, ask] of Object.entries(asks)) {
  describe(format, () => {
    for (const index of [50_000_000, -1]) {
      test(`a choice with index ${index} is an upstream failure without a charge`, async () => {
        const stage = await scene.stage();
        stage.script(answerAt(index, false));
        const response = await ask(stage, false);
        const started = performance.now();
        expect((await fetch(`${scene.gateway.url}/health`)).status).toBe(200);
        expect(performance.now() - started).toBeLessThan(HEALTH_MS);
        expect(response.status).toBe(502);
        expect(await response.text()).toContain('breaks its format');
        expect((await stage.settledCall()).cost).toBe('0');
      });
    }

    test('in the middle of a stream it ends the stream with an error, and what was delivered is charged', async () => {
      const stage = await scene.stage();
      stage.script(answerAt(50_000_000, true));
      const response = await ask(stage, true);
      const body = await response.text().catch((thrown) => String(thrown));
      expect(body).not.toContain('[DONE]');
      expect(body).not.toContain('"message_stop"');
      const call = await stage.settledCall();
      expect(call.outcome).toBe('broken');
      expect(Number(call.cost)).toBeGreaterThan(0);
    });
  });
}
