/** The sandbox in the gateway: one caller's requests do not affect another's, and real providers replace it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type GatewayProcess, startGateway, type TestCaller } from '../helpers/gateway-process.ts';

let gateway: GatewayProcess;
let caller: TestCaller;
beforeAll(async () => {
  gateway = await startGateway();
  caller = await gateway.newCaller();
});
afterAll(async () => {
  await gateway.stop();
});

const ask = (prompt: string, more: object = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: prompt }], ...more }),
  });

test('a failure that one caller requests does not affect the next call', async () => {
  for (const status of [429, 503, 500]) {
    for (let i = 0; i < 6; i++) expect((await ask(`[[fail ${status}]]`)).ok).toBe(false);
    expect((await ask('Hello')).status).toBe(200);
  }
});

test('a reply ends at the model’s token limit, and costs at most the hold', async () => {
  const reply = (await (await ask('[[long 999999]]')).json()) as {
    choices: { finish_reason: string }[];
    usage: { completion_tokens: number };
  };
  expect(reply.choices[0]?.finish_reason).toBe('length');
  expect(reply.usage.completion_tokens).toBe(4096);
});

test('a message without content and invalid base64 are refused in every format', async () => {
  const inline = { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: '%%%' } }] }] };
  const response = await fetch(`${gateway.url}/v1beta/models/sandbox-chat:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': caller.key, 'content-type': 'application/json' },
    body: JSON.stringify(inline),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('inlineData.data');
  expect((await ask('', { messages: [{ role: 'user' }] })).status).toBe(400);
});

const hi = [{ role: 'user', content: 'Hi' }];
const WEATHER = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
const speechConfig = { responseModalities: ['AUDIO'] };

test.each<[path: string, body: object]>([
  ['/v1/chat/completions', { model: 'sandbox-chat', messages: hi }],
  ['/v1/chat/completions', { model: 'sandbox-chat', messages: hi, stream: true }],
  ['/v1/chat/completions', { model: 'sandbox-chat', messages: hi, tools: [WEATHER], tool_choice: 'required' }],
  ['/v1/chat/completions', { model: 'sandbox-image', messages: hi }],
  ['/v1/completions', { model: 'sandbox-chat', prompt: 'Hi' }],
  ['/v1/messages', { model: 'sandbox-chat', max_tokens: 9, messages: hi }],
  ['/v1/messages', { model: 'sandbox-image', max_tokens: 9, messages: hi }],
  ['/v1/responses', { model: 'sandbox-chat', input: 'Hi' }],
  ['/v1/responses', { model: 'sandbox-image', input: 'Hi' }],
  ['/v1beta/models/sandbox-chat:generateContent', { contents }],
  ['/v1beta/models/sandbox-image:generateContent', { contents }],
  ['/v1beta/models/sandbox-speech:generateContent', { contents, generationConfig: speechConfig }],
  ['/v1/rerank', { model: 'sandbox-rerank', query: 'Hi', documents: ['Hi'] }],
  ['/v1/moderations', { model: 'sandbox-moderation', input: 'Hi' }],
])('equal requests get ids of their own: %s %j', async (path, body) => {
  const ids = async () => {
    const headers = { authorization: `Bearer ${caller.key}`, 'anthropic-version': '2023-06-01' };
    const response = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    expect(response.status).toBe(200);
    return [...new Set([...text.matchAll(/"(?:id|responseId)":"([^"]*)"/g)].map(([, id = '']) => id))];
  };
  const [first, second] = [await ids(), await ids()];
  expect(first.length).toBeGreaterThan(0);
  for (const id of first) {
    expect(id).toMatch(/[0-9A-Za-z]{20}/);
    expect(second).not.toContain(id);
  }
});

test.each([
  ['without a provider', {}, true],
  ['beside a provider', { OPENAI_API_KEY: 'sk-none' }, false],
  ['beside a provider, if the setting is on', { OPENAI_API_KEY: 'sk-none', MODELPORT_SANDBOX: 'on' }, true],
  ['if the setting is off', { MODELPORT_SANDBOX: 'off' }, false],
])('%s: its models are offered or not', async (_what, environment, isOffered) => {
  const other = await startGateway({ environment: { MODELPORT_SANDBOX: '', ...environment } });
  try {
    const models = await fetch(`${other.url}/v1/models`, { headers: { authorization: `Bearer ${other.apiKey}` } });
    expect((await models.text()).includes('"sandbox-chat"')).toBe(isOffered);
  } finally {
    await other.stop();
  }
});
