/** Errors that help: the nearest model, how to enable a provider, where a body is invalid JSON. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
});

async function refused(body: string, path = '/v1/chat/completions'): Promise<{ status: number; message: string }> {
  const headers = {
    authorization: `Bearer ${gateway.apiKey}`,
    'content-type': 'application/json',
    'anthropic-version': '1',
  };
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body });
  const { error } = (await response.json()) as { error: { message: string } };
  return { status: response.status, message: error.message };
}

test('an unknown model gets the nearest name, and how to enable a provider if there is only the sandbox', async () => {
  const near = await refused(JSON.stringify({ model: 'Sandbox-chta', messages: [{ role: 'user', content: 'x' }] }));
  expect(near.status).toBe(404);
  expect(near.message).toContain('Did you mean `sandbox-chat`?');
  expect(near.message).toContain('OPENAI_API_KEY');
  const far = await refused(JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: 'x' }] }));
  expect(far.message).not.toContain('Did you mean');
});

test('so does an unknown model of a video, and one that is looked up', async () => {
  const video = await refused(JSON.stringify({ model: 'sandbox-vide', prompt: 'x' }), '/v1/videos');
  expect(video).toMatchObject({ status: 404, message: expect.stringContaining('Did you mean `sandbox-video`?') });
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  for (const path of ['/v1/models/sandbox-cht', '/v1beta/models/sandbox-cht', '/v1/models/models%2Fsandbox-cht']) {
    const response = await fetch(gateway.url + path, { headers });
    const { error } = (await response.json()) as { error: { message: string } };
    expect([path, response.status]).toEqual([path, 404]);
    expect(error.message).toContain('Did you mean `sandbox-chat`?');
  }
});

test('an image model is refused in a text completion, which has no place for an image', async () => {
  const body = JSON.stringify({ model: 'sandbox-image', prompt: 'a cat' });
  expect(await refused(body, '/v1/completions')).toMatchObject({
    status: 400,
    message: expect.stringContaining('POST /v1/images/generations'),
  });
});

test.each(['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/completions', '/v1/embeddings', '/v1/rerank'])(
  '%s gives the position of invalid JSON, and names an empty body',
  async (path) => {
    const broken = await refused('{\n  "model": "x",\n}', path);
    expect(broken).toMatchObject({ status: 400, message: expect.stringContaining('line 3, column 1') });
    const cut = await refused('{"model": ', path);
    expect(cut).toMatchObject({ status: 400, message: expect.stringContaining('line 1, column 11') });
    expect(await refused('', path)).toMatchObject({ status: 400, message: expect.stringContaining('empty') });
  },
);

test('above 1 MiB, where a worker parses, the message is the same', async () => {
  const text = 'x'.repeat(2 * 1024 * 1024);
  const broken = await refused(`{\n  "model": "x",\n  "prompt": "${text}",\n}`);
  expect(broken.message).not.toContain('xxx');
  expect(broken).toMatchObject({
    status: 400,
    message: expect.stringContaining('It is invalid at line 4, column 1.'),
  });
  const cut = await refused(`{"model": "${text}`);
  expect(cut).toMatchObject({ status: 400, message: expect.stringContaining(`line 1, column ${12 + text.length}`) });
});

test('the error of an installation without models explains how to enable a provider', async () => {
  const empty = await startGateway({ environment: { MODELPORT_SANDBOX: 'off' } });
  try {
    const headers = { authorization: `Bearer ${empty.apiKey}`, 'anthropic-version': '2023-06-01' };
    const messages = [{ role: 'user', content: 'x' }];
    const requests: [string, object][] = [
      ['/v1/chat/completions', { model: 'gpt-x', messages }],
      ['/v1/messages', { model: 'gpt-x', max_tokens: 5, messages }],
      ['/v1/responses', { model: 'gpt-x', input: 'x' }],
      ['/v1beta/models/gpt-x:generateContent', { contents: [{ parts: [{ text: 'x' }] }] }],
    ];
    for (const [path, body] of requests) {
      const response = await fetch(empty.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      const { error } = (await response.json()) as { error: { message: string } };
      expect([path, response.status]).toEqual([path, 404]);
      expect(error.message).toContain('No provider is configured here: set its key (OPENAI_API_KEY,');
      expect(error.message).not.toContain('Did you mean');
    }
  } finally {
    await empty.stop();
  }
});

test('an embedding model in a chat request names its endpoint', async () => {
  const body = JSON.stringify({ model: 'sandbox-embed', messages: [{ role: 'user', content: 'x' }] });
  expect(await refused(body)).toMatchObject({ status: 400, message: expect.stringContaining('POST /v1/embeddings') });
});
