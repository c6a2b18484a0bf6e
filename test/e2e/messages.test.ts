/** What only the messages format has: its keys, version header, errors and token counting. */
import { describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const { messages: PROVIDER, chat } = PROVIDERS;
const VERSION = { 'anthropic-version': '2023-06-01' };

const scene = useScene();

interface Reply {
  type?: string;
  error?: { type: string; message: string };
  request_id?: string;
  input_tokens?: number;
}

async function send(stage: Stage, headers: { [name: string]: string }, more: object = {}, path = '/v1/messages') {
  const body = { model: stage.model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], ...more };
  const response = await fetch(scene.gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Reply };
}

describe('the caller', () => {
  test('can use x-api-key or a bearer token, which has precedence', async () => {
    const stage = await scene.stage({ type: chat.type });
    const { key } = stage.caller;
    stage.script(chat.whole({ texts: ['Hi'] }), chat.whole({ texts: ['Hi'] }), chat.whole({ texts: ['Hi'] }));
    for (const carrier of [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { authorization: `Bearer ${key}`, 'x-api-key': 'sk-wrong' },
    ]) {
      expect((await send(stage, { ...carrier, ...VERSION })).status).toBe(200);
    }
    const wrong = await send(stage, { authorization: 'Bearer sk-wrong', 'x-api-key': key, ...VERSION });
    expect(wrong.status).toBe(401);
    await stage.settled();
  });

  test('without a version gets a 400 that names the header; a missing key is reported first', async () => {
    const stage = await scene.stage();
    const none = await send(stage, { 'x-api-key': stage.caller.key });
    expect(none.status).toBe(400);
    expect(none.body.error?.message).toContain('anthropic-version');
    expect((await send(stage, {})).status).toBe(401);
  });

  test("errors have the format's form with the request id", async () => {
    const stage = await scene.stage();
    const { status, headers, body } = await send(stage, { 'x-api-key': 'sk-wrong', ...VERSION });
    expect(status).toBe(401);
    expect(body).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
    expect(body.request_id).toBe(headers.get('x-request-id') ?? '');
  });
});

describe('with its own provider', () => {
  test.each([
    ['anthropic-version', '2026-10-21', '2026-10-21'],
    ['vendor1-version', '2023-06-01', '2023-06-01'],
    ['anthropic-version', '2031-01-01', '2026-10-21'],
  ])("%s: %s goes upstream as %s, with the client's beta flags and the provider's key", async (name, value, sent) => {
    const stage = await scene.stage({ type: PROVIDER.type, upstreamModel: PROVIDER.upstreamModel });
    stage.script(PROVIDER.whole({ texts: ['Hi'] }));
    const flags = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };
    const { status } = await send(
      stage,
      { 'x-api-key': stage.caller.key, [name]: value, ...flags },
      {},
      '/v1/messages?beta=true',
    );
    expect(status).toBe(200);
    const [request] = stage.journal();
    expect(request?.path).toEndWith('/v1/messages');
    expect(request?.headers).toMatchObject({ 'anthropic-version': sent, ...flags });
    expect(request?.headers['x-api-key']).toStartWith('sk-upstream-secret');
    expect(request?.headers.authorization).toBeUndefined();
    await stage.settled();
  });

  test('members that only this format has reach its provider, and are reported for others', async () => {
    const own = await scene.stage({ type: PROVIDER.type, upstreamModel: PROVIDER.upstreamModel });
    own.script(PROVIDER.whole({ texts: ['Hi'] }));
    const more = { context_management: { edits: [] } };
    const headers = { ...VERSION, 'x-api-key': own.caller.key };
    expect((await send(own, headers, more)).headers.get('x-modelport-warnings')).toBeNull();
    expect(own.journal()[0]?.body).toMatchObject(more);
    await own.settled();

    const other = await scene.stage({ type: chat.type });
    other.script(chat.whole({ texts: ['Hi'] }));
    const key = { 'x-api-key': other.caller.key, ...VERSION };
    const lossy = await send(other, key, more);
    expect(lossy.headers.get('x-modelport-warnings')).toContain('context_management');
    const strict = await send(other, { ...key, 'x-modelport-strict': 'true' }, more);
    expect(strict.status).toBe(400);
    await other.settled();
  });
});

test('tokens are counted for any model, without sending or charging anything', async () => {
  const stage = await scene.stage({ type: chat.type });
  const headers = { 'x-api-key': stage.caller.key, ...VERSION };
  const { status, body } = await send(stage, headers, { max_tokens: undefined }, '/v1/messages/count_tokens');
  expect(status).toBe(200);
  expect(body.input_tokens).toBeGreaterThan(0);
  expect(stage.journal()).toEqual([]);
  expect(await stage.settled()).toEqual([]);
});
