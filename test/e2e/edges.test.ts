/** Invalid requests and clients that do not read: refused with an error, within limits. */
import { describe, expect, test } from 'bun:test';
import { chatRequest, streamAnswer, USED, wholeAnswer } from '../helpers/chat-answers.ts';
import { costOf, nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { askWithoutReading } from '../helpers/unread-answer.ts';

const MAX_BODY_BYTES = 200_000;

const scene = useScene({ environment: { MODELPORT_MAX_BODY_BYTES: String(MAX_BODY_BYTES) } });

async function postRaw(
  stage: Stage,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  path = '/v1/chat/completions',
) {
  const headers = { authorization: `Bearer ${stage.caller.key}`, 'content-type': 'application/json' };
  const response = await fetch(scene.gateway.url + path, { method: 'POST', headers, body });
  const { error } = (await response.json()) as { error?: { code: string; param: string | null; message: string } };
  return { status: response.status, error };
}

describe('bodies', () => {
  test('too large, with or without a stated length: 413', async () => {
    const stage = await scene.stage();
    const large = JSON.stringify(chatRequest(stage.model, { user: 'x'.repeat(MAX_BODY_BYTES) }));
    const chunked = new ReadableStream({
      start(controller) {
        for (let at = 0; at < large.length; at += 10_000) controller.enqueue(Buffer.from(large.slice(at, at + 10_000)));
        controller.close();
      },
    });
    for (const body of [large, chunked]) {
      expect(await postRaw(stage, body)).toMatchObject({ status: 413, error: { code: 'request_too_large' } });
    }
  });

  test('not JSON, not an object, not UTF-8, empty: 400', async () => {
    const stage = await scene.stage();
    const broken = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
    for (const path of ['/v1/chat/completions', '/v1/completions']) {
      for (const body of ['', '{', 'null', '[]', '"x"', '{"model":', broken]) {
        expect(await postRaw(stage, body, path)).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
      }
    }
  });

  test('missing, mistyped or out-of-range members are named', async () => {
    const stage = await scene.stage();
    const wrong: [object, string][] = [
      [{ model: undefined }, 'model'],
      [{ messages: undefined }, 'messages'],
      [{ messages: 'Hi' }, 'messages'],
      [{ temperature: 2.01 }, 'temperature'],
      [{ temperature: '1' }, 'temperature'],
      [{ top_p: 1.1 }, 'top_p'],
      [{ n: 0 }, 'n'],
      [{ n: 1.5 }, 'n'],
      [{ presence_penalty: -2.1 }, 'presence_penalty'],
      [{ frequency_penalty: 3 }, 'frequency_penalty'],
      [{ stream: 'yes' }, 'stream'],
      [{ max_tokens: -1 }, 'max_tokens'],
      [{ tools: {} }, 'tools'],
    ];
    for (const [more, param] of wrong) {
      const { status, error } = await postRaw(stage, JSON.stringify({ ...chatRequest(stage.model), ...more }));
      expect({ param, status, named: error?.param }).toEqual({ param, status: 400, named: param });
      expect(error?.message).toContain(param);
    }
    expect(stage.journal()).toHaveLength(0);
    expect(await stage.settled()).toHaveLength(0);
  });

  test('a model in the wrong letter case: 404, nothing held', async () => {
    const stage = await scene.stage({ model: 'Case-Matters' });
    const { status, error } = await postRaw(stage, JSON.stringify(chatRequest('case-matters')));
    expect([status, error?.code]).toEqual([404, 'model_not_found']);
  });
});

describe('clients', () => {
  test('a client that does not read pauses the upstream instead of filling memory', async () => {
    const stage = await scene.stage();
    const line = 'x'.repeat(64 * 1024);
    stage.script(streamAnswer(Array.from({ length: 1000 }, () => line)));
    const socket = askWithoutReading(stage, '/v1/chat/completions', chatRequest(stage.model, { stream: true }));
    const sent = () => stage.journal()[0]?.sentBytes ?? 0;
    let held = 0;
    for (let still = 0; still < 30; still = held > 0 && held === sent() ? still + 1 : 0) {
      held = sent();
      await Bun.sleep(50);
    }
    // The receive buffer of a kernel may grow to 32 MiB.
    expect(held).toBeLessThan(48 * 1024 * 1024);
    socket.destroy();
    const call = await stage.settledCall();
    expect(call.outcome).toBe('aborted');
    expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
  }, 60_000);

  test('a hundred concurrent clients are served and charged separately', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(['one ', 'two'], { repeat: true, paceMs: 10 }));
    const texts = await Promise.all(
      Array.from({ length: 100 }, async () =>
        (await stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }))).text(),
      ),
    );
    for (const text of texts) expect(text).toEndWith('data: [DONE]\n\n');
    const calls = await stage.settled();
    expect(calls).toHaveLength(100);
    for (const call of calls) expect(nanoCost(call)).toBe(costOf(USED));
  }, 60_000);

  test('a client that reuses its connection after an error is served', async () => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('Hello'));
    expect((await postRaw(stage, '{')).status).toBe(400);
    expect((await postRaw(stage, JSON.stringify(chatRequest(stage.model)))).status).toBe(200);
  });
});
