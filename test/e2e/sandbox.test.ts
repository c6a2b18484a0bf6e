/** The sandbox in the gateway: one caller's requests do not affect another's, and real providers replace it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type GatewayProcess, startGateway, type TestCaller } from '../gateway-process.ts';

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

test.each([
  ['without a provider', {}, true],
  ['beside a provider', { OPENAI_API_KEY: 'sk-none' }, false],
  ['beside a provider, where it is told to be on', { OPENAI_API_KEY: 'sk-none', MODELPORT_SANDBOX: 'on' }, true],
  ['where it is told to be off', { MODELPORT_SANDBOX: 'off' }, false],
])('%s: its models are offered or not', async (_what, environment, isOffered) => {
  const other = await startGateway({ environment: { MODELPORT_SANDBOX: '', ...environment } });
  try {
    const models = await fetch(`${other.url}/v1/models`, { headers: { authorization: `Bearer ${other.apiKey}` } });
    expect((await models.text()).includes('"sandbox-chat"')).toBe(isOffered);
  } finally {
    await other.stop();
  }
});
