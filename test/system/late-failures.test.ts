/** Rare failures: clients that stay connected without reading, very long refusals, replies that fail at their end. */
import { expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { askWithoutReading } from '../helpers/unread-answer.ts';

const KEEP_ALIVE_MS = 1000;
const WHOLE_MS = 4000;

const scene = useScene({
  environment: { MODELPORT_KEEP_ALIVE_MS: String(KEEP_ALIVE_MS), MODELPORT_WHOLE_TIMEOUT_MS: String(WHOLE_MS) },
});

test('a client that stays connected without reading is settled after the maximum time of a call', async () => {
  const stage = await scene.stage();
  const line = 'x'.repeat(64 * 1024);
  stage.script(streamAnswer(Array.from({ length: 1000 }, () => line)));
  const socket = askWithoutReading(stage, '/v1/chat/completions', chatRequest(stage.model, { stream: true }));
  await Bun.sleep(WHOLE_MS + 1000);
  expect(await stage.settledCall()).toMatchObject({ outcome: 'broken' });
  socket.destroy();
}, 60_000);

test('the first keep-alive is sent after one silence, with the headers, and the answer follows', async () => {
  const stage = await scene.stage();
  stage.script(streamAnswer(['late'], { fault: { before: 'headers', does: 2 * KEEP_ALIVE_MS + 800 } }));
  const response = await stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }));
  expect(stage.journal()[0]?.endedMs).toBeUndefined();
  const text = await response.text();
  expect(text).toStartWith(':');
  expect(text).toContain('late');
  expect(text).toEndWith('data: [DONE]\n\n');
  await stage.settledCall();
}, 60_000);

test('more choices than the maximum are refused before anything is held or sent', async () => {
  const stage = await scene.stage();
  const requests: [string, object, number][] = [
    ['/v1/chat/completions', chatRequest(stage.model, { n: 129 }), 400],
    ['/v1/completions', { model: stage.model, prompt: Array.from({ length: 65 }, () => 'Hi'), n: 2 }, 400],
  ];
  for (const [path, body, status] of requests) {
    const response = await stage.post(path, body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'n' } });
  }
  expect(stage.journal()).toHaveLength(0);
  expect(await stage.settled()).toHaveLength(0);
});

test('a refusal that is too long or incomplete is still a refusal, and no other target is tried', async () => {
  const long = errorAnswer(400, 'x'.repeat(200_000));
  const cut = errorAnswer(422, 'No such thing.', { fault: { before: 0, inside: 'event', does: 'cut' } });
  for (const [answer, status] of [
    [long, 400],
    [cut, 422],
  ] as const) {
    const stage = await scene.stage({ targets: 2 });
    stage.scriptTarget(0, answer);
    stage.scriptTarget(1, answer);
    const response = await stage.post('/v1/chat/completions', chatRequest(stage.model));
    expect(response.status).toBe(status);
    expect(stage.journal()).toHaveLength(1);
    expect(await stage.settledCall()).toMatchObject({ outcome: 'refused', cost: '0' });
  }
});

test('a non-streaming response with both text and an error is a failed attempt: the next target answers, one charge', async () => {
  const stage = await scene.stage({ targets: 2 });
  const choices = [{ index: 0, message: { role: 'assistant', content: 'half' }, finish_reason: 'error' }];
  stage.scriptTarget(0, {
    json: {
      id: 'a',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices,
      error: { message: 'died', type: 'server_error' },
    },
  });
  stage.scriptTarget(1, wholeAnswer('whole'));
  stage.scriptTarget(0, wholeAnswer('whole'));
  const response = await stage.post('/v1/chat/completions', chatRequest(stage.model));
  expect(await response.text()).toContain('whole');
  expect(await stage.settledCall()).toMatchObject({ outcome: 'ok' });
});
