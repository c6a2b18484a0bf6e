/** Provider tools in each format: refused without a price, charged by it; and video modes. */
import { expect, test } from 'bun:test';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import { responsesReply } from '../helpers/responses-reply.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene({ environment: { MODELPORT_VIDEO_POLL_MS: '50', MODELPORT_UNPRICED_EXTRAS: 'refuse' } });

const PRICE = { input: 1, output: 1, perToolCall: 0.01 };
const hello = [{ role: 'user', content: 'Hi' }];
const SEARCHES = ['a', 'b'].map((query, index) => ({
  type: 'web_search_call',
  id: `ws_${index + 1}`,
  status: 'completed',
  action: { type: 'search', query },
}));
const RESPONSE = { ...responsesReply([1000, 1000], SEARCHES), model: 'gpt-6' };

test('searches in a response are charged even if its usage does not count them', async () => {
  const stage = await scene.stage({ type: 'openai', upstreamModel: 'gpt-6', price: PRICE });
  stage.script({ json: RESPONSE });
  const body = { model: stage.model, input: 'Hi', tools: [{ type: 'web_search' }] };
  const response = await stage.post('/v1/responses', body);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-modelport-cost')).toBe('0.022');
  expect(stage.journal()[0]?.body).toMatchObject({ tools: [{ type: 'web_search' }], max_tool_calls: 20 });
  const [call] = await stage.settled();
  expect(call).toMatchObject({ cost: '0.022' });
});

test("Anthropic's searches are charged and limited, its fetches are not charged", async () => {
  const stage = await scene.stage({ type: 'anthropic', upstreamModel: 'claude-opus-4-5', price: PRICE });
  const { json } = PROVIDERS.messages.whole({ texts: ['Hi'] }) as { json: object };
  const usage = {
    input_tokens: 1000,
    output_tokens: 1000,
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 4 },
  };
  stage.script({ json: { ...json, usage } });
  const tools = [
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 4 },
  ];
  const response = await fetch(`${scene.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': stage.caller.key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ model: stage.model, max_tokens: 50, messages: hello, tools }),
  });
  expect(response.headers.get('x-modelport-cost')).toBe('0.032');
  expect(stage.journal()[0]?.body).toMatchObject({ tools: [{ max_uses: 20 }, { max_uses: 4 }] });
  await stage.settled();
});

test('the search of a chat, which no provider reports, is charged once', async () => {
  const stage = await scene.stage({ type: 'openai', upstreamModel: 'gpt-4o-search-preview', price: PRICE });
  stage.script(
    PROVIDERS.chat.whole({ texts: ['Hi'], tokens: { input: 1000, cachedInput: 0, output: 1000, reasoning: 0 } }),
  );
  const body = { model: stage.model, messages: hello, web_search_options: {} };
  const response = await stage.post('/v1/chat/completions', body);
  expect(response.headers.get('x-modelport-cost')).toBe('0.012');
  await stage.settled();
});

test('without a price it is refused by name, and nothing is held or sent', async () => {
  const stage = await scene.stage({ type: 'openai', upstreamModel: 'gpt-6' });
  const body = { model: stage.model, input: 'Hi', tools: [{ type: 'web_search' }] };
  const response = await stage.post('/v1/responses', body);
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { param: string; message: string } };
  expect(error.param).toBe('tools');
  expect(error.message).toContain('`web_search`');
  expect(error.message).toContain('`perToolCall`');
  expect(stage.journal()).toEqual([]);
});

test('images that a tool generates are limited, and all of them held for', async () => {
  const price = { input: 1, output: 1, perImage: 0.1 };
  const stage = await scene.stage({ type: 'openai', upstreamModel: 'gpt-6', price, amount: '0.15' });
  stage.script({ json: RESPONSE });
  const body = { model: stage.model, input: 'Cats', max_output_tokens: 100, tools: [{ type: 'image_generation' }] };
  expect((await stage.post('/v1/responses', body)).status).toBe(402);
  expect(stage.journal()).toHaveLength(0);
  expect((await stage.post('/v1/responses', { ...body, max_tool_calls: 1 })).status).toBe(200);
  await stage.settled();

  const rich = await scene.stage({ type: 'openai', upstreamModel: 'gpt-6', price });
  rich.script({ json: RESPONSE });
  expect((await rich.post('/v1/responses', { ...body, model: rich.model })).status).toBe(200);
  expect(rich.journal()[0]?.body).toMatchObject({ max_tool_calls: 4 });
  await rich.settled();
});

test("Kling's modes: the standard one has the usual price, others need their own", async () => {
  const perSecond = [
    { quality: 'std', price: 0.05 },
    { quality: 'pro', price: 0.1 },
  ];
  const stage = await scene.stage({ type: 'kling', kind: 'video', price: { perSecond } });
  const failed = {
    json: { code: 0, message: '', data: { task_id: 'k1', task_status: 'failed', task_status_msg: 'No.' } },
  };
  const poll = `/${stage.model.replace('model-', '')}/t0/v1/videos/text2video/k1`;
  const order = async (more: object) => {
    stage.script(failed);
    scene.upstream.script(poll, failed);
    const body = { model_name: stage.model, prompt: 'A cat', duration: '5', ...more };
    const response = await stage.post('/kling/v1/videos/text2video', body);
    return { status: response.status, text: await response.text() };
  };
  expect((await order({ mode: 'pro' })).status).toBe(200);
  expect((await order({})).status).toBe(200);
  const refused = await order({ mode: 'pro', sound: 'on' });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('pro+sound');
  const sent = stage.journal().filter(({ method }) => method === 'POST');
  expect(sent.map(({ body }) => (body as { mode?: string }).mode)).toEqual(['pro', undefined]);
  await stage.settled();
}, 60_000);
