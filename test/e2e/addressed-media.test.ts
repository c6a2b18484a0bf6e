/** Images and documents given by URL, with providers that fetch them and providers that do not. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import { type Scene, type Stage, startScene } from '../helpers/scene.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n');
const BASE64 = PNG.toString('base64');

const requested: string[] = [];
const images = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url);
    requested.push(pathname);
    if (pathname.startsWith('/image')) return new Response(PNG, { headers: { 'content-type': 'image/jpeg' } });
    if (pathname === '/paper') return new Response(PDF, { headers: { 'content-type': 'application/pdf' } });
    if (pathname === '/page') return new Response('<!doctype html><p>Hi', { headers: { 'content-type': 'image/png' } });
    if (pathname === '/inside') return Response.redirect('http://169.254.169.254/latest/meta-data/');
    return new Response('no', { status: 404 });
  },
});
const at = (path: string) => `http://127.0.0.1:${images.port}${path}`;

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({
    environment: { MODELPORT_FETCH_ALLOW: '127.0.0.1', MODELPORT_FETCH_TIMEOUT_MS: '20000' },
  });
}, 60_000);
afterEach(async () => {
  requested.length = 0;
  await scene.assertClean();
});
afterAll(async () => {
  await images.stop(true);
  await scene.close();
}, 60_000);

const content = (...urls: string[]) => [
  { type: 'text', text: 'What is it?' },
  ...urls.map((url) => ({ type: 'image_url', image_url: { url } })),
];
const chat = (stage: Stage, ...urls: string[]) =>
  stage.post('/v1/chat/completions', {
    model: stage.model,
    messages: [{ role: 'user', content: content(...urls) }],
    unknown_member: 7,
  });
const OUTPUT = { texts: ['A dot.'] };

interface GeminiBody {
  contents: { parts: { inlineData?: { mimeType: string; data: string } }[] }[];
}

function inlineOf(body: unknown) {
  return (body as GeminiBody).contents.flatMap(({ parts }) => parts.flatMap((part) => part.inlineData ?? []));
}

describe('a target that accepts only inline images', () => {
  test('gets the bytes with their real media type; several are fetched at once, each one time', async () => {
    const stage = await scene.stage({ type: 'google', upstreamModel: 'gemini-3.8-flash' });
    stage.script(PROVIDERS.gemini.whole(OUTPUT));
    const response = await chat(stage, at('/image1'), at('/image2'), at('/image1'));
    expect(response.status).toBe(200);
    const image = { mimeType: 'image/png', data: BASE64 };
    expect(inlineOf(stage.journal()[0]?.body)).toEqual([image, image, image]);
    expect(requested.sort()).toEqual(['/image1', '/image2']);
    expect(await stage.settledCall()).toMatchObject({ status: 200, attempts: 1 });
  });

  test('the next target gets what was fetched for the first', async () => {
    const stage = await scene.stage({ type: 'google', upstreamModel: 'gemini-3.8-flash', targets: 2 });
    stage.scriptTarget(0, PROVIDERS.gemini.error(503, 'overloaded'));
    stage.scriptTarget(1, PROVIDERS.gemini.whole(OUTPUT));
    expect((await chat(stage, at('/image'))).status).toBe(200);
    expect(stage.journal().map(({ body }) => inlineOf(body).length)).toEqual([1, 1]);
    expect(requested).toEqual(['/image']);
  });

  test("of the client's own dialect gets the rest of the body unchanged", async () => {
    const stage = await scene.stage({ type: 'ollama' });
    stage.script(PROVIDERS.chat.whole(OUTPUT));
    expect((await chat(stage, at('/image'))).status).toBe(200);
    expect(stage.journal()[0]?.body).toMatchObject({
      unknown_member: 7,
      messages: [{ content: [{ type: 'text' }, { image_url: { url: `data:image/png;base64,${BASE64}` } }] }],
    });
  });

  test('gets a document of a Messages client', async () => {
    const stage = await scene.stage({ type: 'google', upstreamModel: 'gemini-3.8-flash' });
    stage.script(PROVIDERS.gemini.whole(OUTPUT));
    const document = { type: 'document', source: { type: 'url', url: at('/paper') } };
    const response = await fetch(`${scene.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': stage.caller.key, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: stage.model, max_tokens: 50, messages: [{ role: 'user', content: [document] }] }),
    });
    expect(response.status).toBe(200);
    expect(inlineOf(stage.journal()[0]?.body)).toEqual([{ mimeType: 'application/pdf', data: PDF.toString('base64') }]);
  });
});

test('a target that fetches images itself gets the URL, and the gateway does not fetch it', async () => {
  const url = 'http://10.0.0.1/private.png';
  const stage = await scene.stage({ type: 'anthropic', upstreamModel: 'claude-sonnet-4-5' });
  stage.script(PROVIDERS.messages.whole(OUTPUT));
  expect((await chat(stage, url)).status).toBe(200);
  expect(JSON.stringify(stage.journal()[0]?.body)).toContain(url);
});

describe("what cannot be fetched: 400 with the member's name, nothing sent, nothing held", () => {
  const formats: [string, string, (url: string, model: string) => object, string][] = [
    [
      'chat',
      '/v1/chat/completions',
      (url, model) => ({ model, messages: [{ role: 'user', content: content(at('/image'), url) }] }),
      'messages[0].content[2].image_url.url',
    ],
    [
      'messages',
      '/v1/messages',
      (url, model) => ({
        model,
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
      }),
      'messages[0].content[0].source.url',
    ],
    [
      'responses',
      '/v1/responses',
      (url, model) => ({ model, input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }),
      'input[0].content[0].image_url',
    ],
  ];
  const addresses: [string, () => string, string][] = [
    ['private', () => 'http://10.0.0.1/x.png', 'public host'],
    ['metadata', () => 'http://169.254.169.254/latest', 'public host'],
    ['decimal', () => 'http://167772161/x.png', 'public host'],
    ['with a password', () => 'https://me:secret@example.com/x.png', 'password'],
    ['of another scheme', () => 'gs://bucket/x.png', 'http'],
    ['missing', () => at('/missing'), 'status 404'],
    ['no image', () => at('/page'), 'no image'],
    ['redirected inside', () => at('/inside'), 'public host'],
  ];
  for (const [format, path, bodyOf, param] of formats) {
    test.each(addresses)(`${format}: %s`, async (_, url, words) => {
      const stage = await scene.stage({ type: 'google', upstreamModel: 'gemini-3.8-flash' });
      const response = await fetch(scene.gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${stage.caller.key}`, 'anthropic-version': '2023-06-01' },
        body: JSON.stringify(bodyOf(url(), stage.model)),
      });
      const { error } = (await response.json()) as { error: { message: string; param?: string } };
      expect(response.status).toBe(400);
      expect(error.message).toContain(words);
      expect(error.param ?? error.message).toContain(param);
      expect(error.message).not.toContain('secret');
      expect(stage.journal()).toEqual([]);
      expect(await stage.settled()).toEqual([]);
    });
  }

  test('with an empty balance a failed fetch is not repeated', async () => {
    const stage = await scene.stage({ type: 'google', upstreamModel: 'gemini-3.8-flash', targets: 2 });
    expect((await chat(stage, at('/missing'), at('/missing'))).status).toBe(400);
    expect(requested).toEqual(['/missing']);
  });
});
