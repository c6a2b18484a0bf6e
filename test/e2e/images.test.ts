/**
 * Images: both request formats, edits as JSON and as a form, streams with partial images, image models in every format, invalid requests,
 * costs.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { nanoCost, type Scene, type Stage, startScene } from '../helpers/scene.ts';
import type { Answer } from '../upstream/answer.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are looked into as a client would
type Body = any;

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PER_IMAGE = 2_000_000n;

const files = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(Buffer.from(PNG, 'base64'), { headers: { 'content-type': 'image/png' } }),
});
const address = `http://127.0.0.1:${files.port}/image.png`;

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({
    environment: { MODELPORT_FETCH_ALLOW: '127.0.0.1', MODELPORT_MAX_BODY_BYTES: '2000000' },
  });
}, 60_000);
afterEach(() => scene.assertClean());
afterAll(async () => {
  await files.stop(true);
  await scene.close();
}, 60_000);

const GENERATE = '/v1/images/generations';
const EDIT = '/v1/images/edits';

async function ask(
  stage: Stage,
  path: string,
  body: object | FormData,
): Promise<{ status: number; headers: Headers; body: Body }> {
  const response = await send(stage, path, body);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function send(stage: Stage, path: string, body: object | FormData): Promise<Response> {
  const form = body instanceof FormData;
  return fetch(scene.gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.caller.key}`, ...(!form && { 'content-type': 'application/json' }) },
    body: form ? body : JSON.stringify(body),
  });
}

async function events(response: Response): Promise<Body[]> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

function pixels(base64: string): string {
  const png = Buffer.from(base64, 'base64');
  expect(png.toString('latin1', 1, 4)).toBe('PNG');
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}

const cat = (more: object = {}) => ({ model: 'sandbox-image', prompt: 'A cat', ...more });

describe('with the sandbox', () => {
  test('the flat request format: images of the requested size, each at its price', async () => {
    const stage = await scene.stage();
    const { status, headers, body } = await ask(stage, GENERATE, cat({ size: '640x256', n: 3 }));
    expect(status).toBe(200);
    expect(headers.get('x-modelport-cost')).toBe('0.006');
    expect(body.created).toBeGreaterThan(1_700_000_000);
    expect(body.data.map(({ b64_json }: Body) => pixels(b64_json))).toEqual(['640x256', '640x256', '640x256']);
    expect(new Set(body.data.map(({ b64_json }: Body) => b64_json)).size).toBe(3);
    expect(body.data[0].revised_prompt).toContain('A cat');
    const call = await stage.settledCall();
    expect([nanoCost(call), call.usage]).toEqual([3n * PER_IMAGE, expect.objectContaining({ images: 3 })]);
  });

  test('the nested request format', async () => {
    const stage = await scene.stage();
    const content = [{ text: 'A cat' }, { image: `data:image/png;base64,${PNG}` }];
    const nested = {
      model: 'sandbox-image',
      input: { messages: [{ role: 'user', content }] },
      parameters: { size: '512*256', n: 2 },
    };
    const { body } = await ask(stage, GENERATE, nested);
    expect(body.data.map(({ b64_json }: Body) => pixels(b64_json))).toEqual(['512x256', '512x256']);
    expect(body.data[0].revised_prompt).toContain('from 1x1, 70 bytes');
    expect(nanoCost(await stage.settledCall())).toBe(2n * PER_IMAGE);
  });

  test('as a URL if requested', async () => {
    const stage = await scene.stage();
    const { body } = await ask(stage, GENERATE, cat({ response_format: 'url', size: '64x64' }));
    expect(pixels(body.data[0].url.replace('data:image/png;base64,', ''))).toBe('64x64');
    expect(body.data[0].b64_json).toBeUndefined();
  });

  test('an edit as a form and as JSON, from bytes and from a URL', async () => {
    const stage = await scene.stage();
    const form = new FormData();
    form.set('model', 'sandbox-image');
    form.set('prompt', 'A cat');
    form.set('size', '128x64');
    form.append('image[]', new Blob([Buffer.from(PNG, 'base64')], { type: 'image/png' }), 'a "cat".png');
    form.append('image[]', new Blob([Buffer.from(PNG, 'base64')], { type: 'image/png' }), 'b.png');
    const json = cat({
      size: '128x64',
      images: [{ image_url: address }, { image_url: `data:image/png;base64,${PNG}` }],
    });
    for (const body of [form, json]) {
      const answer = await ask(stage, EDIT, body);
      expect(answer.status).toBe(200);
      expect(pixels(answer.body.data[0].b64_json)).toBe('128x64');
      expect(answer.body.data[0].revised_prompt).toContain('from 1x1, 70 bytes; 1x1, 70 bytes');
    }
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, PER_IMAGE]);
  });

  test('a stream: partial images first, then the image', async () => {
    const stage = await scene.stage();
    const response = await send(stage, GENERATE, cat({ stream: true, partial_images: 2, size: '256x256' }));
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const all = await events(response);
    expect(all.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(all.map(({ b64_json }) => pixels(b64_json))).toEqual(['32x32', '32x32', '256x256']);
    expect(all.at(-1).usage.output_tokens).toBeGreaterThan(0);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });
});

describe('invalid requests: nothing sent, nothing charged', () => {
  const wrong: [string, object, string, string][] = [
    ['no prompt', { prompt: undefined }, 'prompt', 'invalid_request'],
    ['no model', { model: undefined }, 'model', 'invalid_request'],
    ['n of 0', { n: 0 }, 'n', 'invalid_request'],
    ['n of a half', { n: 0.5 }, 'n', 'invalid_request'],
    ['n above the cap', { n: 11 }, 'n', 'too_many_images'],
    ['a huge n', { n: 9_007_199_254_740_991 }, 'n', 'too_many_images'],
    ['a size that is none', { size: 'large' }, 'size', 'invalid_request'],
    ['a size of nothing', { size: '0x10' }, 'size', 'invalid_request'],
    ['a size beyond all', { size: '99999x99999' }, 'size', 'invalid_request'],
    ['a size that does not exist', { size: '8000x8000' }, 'size', 'invalid_value'],
    ['a delivery that is none', { response_format: 'fax' }, 'response_format', 'invalid_request'],
    ['nested without a text', { input: { messages: [] } }, 'input.messages', 'invalid_request'],
    ['a private address', { images: ['http://10.0.0.1/x.png'] }, 'images[0]', 'invalid_request'],
  ];
  test.each(wrong)('%s', async (_, more, param, code) => {
    const stage = await scene.stage();
    const { status, body } = await ask(stage, GENERATE, cat(more));
    expect(status).toBe(400);
    expect(body.error.param).toBe(param);
    if (code !== 'invalid_value') expect(body.error.code).toBe(code);
    for (const call of await stage.settled()) expect(call.cost).toBe('0');
  });

  test('an edit without an image, an incomplete form, and an image that is too large', async () => {
    const stage = await scene.stage();
    expect((await ask(stage, EDIT, cat())).body.error.param).toBe('image');
    const boundary = 'xyz';
    const raw = (body: string | Uint8Array<ArrayBuffer>) =>
      fetch(scene.gateway.url + EDIT, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stage.caller.key}`,
          'content-type': `multipart/form-data; boundary=${boundary}`,
        },
        body,
      });
    const part = `--${boundary}\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nA cat\r\n`;
    for (const broken of ['', 'no form', part, `${part}--${boundary}\r\ncontent-disp`]) {
      const response = await raw(broken);
      expect(response.status).toBe(400);
      expect(((await response.json()) as Body).error.message).toContain('multipart');
    }
    const large = await raw(new Uint8Array(3_000_000));
    expect(large.status).toBe(413);
    expect(await stage.settled()).toEqual([]);
  });

  test("more images than the model's maximum are refused in every format, and a model may have a larger maximum", async () => {
    const stage = await scene.stage(drawing({ maxImages: 2 }));
    const { model } = stage;
    const messages = [{ role: 'user', content: 'A cat' }];
    const contents = [{ role: 'user', parts: [{ text: 'A cat' }] }];
    const cases: [string, object][] = [
      [GENERATE, cat({ model, n: 3 })],
      [GENERATE, { model, input: { messages }, parameters: { n: 3 } }],
      ['/v1/chat/completions', { model, messages, n: 3 }],
      [`/v1beta/models/${model}:generateContent`, { contents, generationConfig: { candidateCount: 3 } }],
    ];
    for (const [path, body] of cases) {
      const { status, body: result } = await ask(stage, path, body);
      expect([status, result.error.message]).toEqual([400, expect.stringContaining('must be from 1 to 2')]);
    }
    expect([stage.journal(), await stage.settled()]).toEqual([[], []]);
    const generous = await scene.stage(drawing({ maxImages: 12 }));
    generous.script(answer(...Array<object>(12).fill({ b64_json: PNG })));
    expect((await ask(generous, GENERATE, cat({ model: generous.model, n: 12 }))).body.data).toHaveLength(12);
    expect(nanoCost(await generous.settledCall())).toBe(12n * PER_IMAGE);
  });

  test('a model that does not generate images', async () => {
    const stage = await scene.stage();
    const { status, body } = await ask(stage, GENERATE, cat({ model: 'sandbox-chat' }));
    expect([status, body.error.param]).toEqual([400, 'model']);
  });
});

const IMAGE_PRICE = { perImage: 0.002 };
const drawing = (more: object) => ({ kind: 'image' as const, price: IMAGE_PRICE, ...more });
const answer = (...data: object[]): Answer => ({ json: { created: 1_790_000_000, data, unknown: 7 } });

describe('with a provider of this format', () => {
  test('bytes pass in both directions', async () => {
    const stage = await scene.stage(drawing({ type: 'openai', upstreamModel: 'gpt-image-1.5' }));
    stage.script(answer({ b64_json: PNG, unknown: true }));
    const { body } = await ask(stage, GENERATE, cat({ model: stage.model, new_member: { a: 1.5 } }));
    expect(body).toEqual({ created: 1_790_000_000, data: [{ b64_json: PNG, unknown: true }], unknown: 7 });
    const [sent] = stage.journal();
    expect(sent?.path).toEndWith('/v1/images/generations');
    expect(sent?.body).toEqual({ model: 'gpt-image-1.5', prompt: 'A cat', new_member: { a: 1.5 } });
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  test("a form client's edit reaches one provider as JSON, and a JSON client's edit reaches another as a form", async () => {
    const form = new FormData();
    const stage = await scene.stage(drawing({ type: 'xai', upstreamModel: 'grok-imagine-image' }));
    stage.script(answer({ b64_json: PNG }));
    form.set('model', stage.model);
    form.set('prompt', 'Bluer');
    form.set('image', new Blob([Buffer.from(PNG, 'base64')], { type: 'image/png' }), 'a.png');
    expect((await ask(stage, EDIT, form)).status).toBe(200);
    expect(stage.journal()[0]?.path).toEndWith('/images/edits');
    expect(stage.journal()[0]?.body).toMatchObject({
      prompt: 'Bluer',
      image: { type: 'image_url', url: `data:image/png;base64,${PNG}` },
    });
    const other = await scene.stage(drawing({ type: 'openai-compatible' }));
    other.script(answer({ b64_json: PNG }));
    const json = cat({ model: other.model, images: [{ image_url: address }] });
    expect((await ask(other, EDIT, json)).status).toBe(200);
    expect(other.journal()[0]?.headers['content-type']).toStartWith('multipart/form-data; boundary=');
  });

  test('a URL is fetched for a client that requests bytes, and passed on to others', async () => {
    const stage = await scene.stage(drawing({ type: 'openai-compatible' }));
    stage.script(answer({ url: address }), answer({ url: address }));
    const inHand = await ask(stage, GENERATE, cat({ model: stage.model, response_format: 'b64_json' }));
    expect(inHand.body.data).toEqual([{ b64_json: PNG }]);
    expect((await ask(stage, GENERATE, cat({ model: stage.model }))).body.data).toEqual([{ url: address }]);
  });

  test('fewer images than requested: fewer charged', async () => {
    const stage = await scene.stage(drawing({ type: 'openai-compatible' }));
    stage.script(answer({ b64_json: PNG }, { b64_json: PNG }));
    expect((await ask(stage, GENERATE, cat({ model: stage.model, n: 4 }))).body.data).toHaveLength(2);
    expect(nanoCost(await stage.settledCall())).toBe(2n * PER_IMAGE);
  });

  test('input images have a price if the model defines one, in every format', async () => {
    const price = { perImage: 0.002, perInputImage: 0.0005 };
    const stage = await scene.stage({ kind: 'image', price, type: 'openai', upstreamModel: 'gpt-image-1.5' });
    stage.script(...Array<Answer>(3).fill(answer({ b64_json: PNG })));
    const { model } = stage;
    const given = `data:image/png;base64,${PNG}`;
    const content = [
      { type: 'text', text: 'Bluer' },
      { type: 'image_url', image_url: { url: given } },
    ];
    expect((await ask(stage, GENERATE, cat({ model }))).status).toBe(200);
    expect((await ask(stage, EDIT, cat({ model, images: [given, given] }))).status).toBe(200);
    expect((await ask(stage, '/v1/chat/completions', { model, messages: [{ role: 'user', content }] })).status).toBe(
      200,
    );
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, PER_IMAGE + 1_000_000n, PER_IMAGE + 500_000n]);
  });

  test('the price depends on size and quality: as requested, or as reported by the provider', async () => {
    const perImage = [
      { size: '1024x1024', price: 0.04 },
      { size: '1024x1024', quality: 'high', price: 0.17 },
      { size: '1536x1024', price: 0.06 },
      { price: 0.01 },
    ];
    const stage = await scene.stage({ kind: 'image', price: { perImage }, type: 'openai-compatible' });
    const cases: [object, object, bigint][] = [
      [{ size: '1024x1024' }, {}, 40_000_000n],
      [{ size: '1024x1024', quality: 'high' }, {}, 170_000_000n],
      [{ size: '512x512' }, {}, 10_000_000n],
      [{ size: 'auto' }, { size: '1536x1024', quality: 'medium' }, 60_000_000n],
    ];
    for (const [more, chosen] of cases) {
      stage.script({ json: { created: 1, data: [{ b64_json: PNG }], ...chosen } });
      expect((await ask(stage, GENERATE, cat({ model: stage.model, ...more }))).status).toBe(200);
    }
    expect((await stage.settled()).map(nanoCost)).toEqual(cases.map(([, , cost]) => cost));
  });

  test('a refusal is the client’s error, and a failure is not charged', async () => {
    const stage = await scene.stage(drawing({ type: 'openai-compatible' }));
    const error = {
      message: 'Not that.',
      type: 'image_generation_user_error',
      param: '',
      code: 'moderation_blocked',
    };
    stage.script({ status: 400, json: { error } }, { status: 500, json: {} });
    expect((await ask(stage, GENERATE, cat({ model: stage.model }))).body.error).toMatchObject({
      code: 'moderation_blocked',
      message: 'Not that.',
    });
    expect((await ask(stage, GENERATE, cat({ model: stage.model }))).status).toBe(502);
    expect((await stage.settled()).map(({ cost }) => cost)).toEqual(['0', '0']);
  });
});

const GEMINI_USAGE = { promptTokenCount: 3, candidatesTokenCount: 1290, totalTokenCount: 1293 };
const geminiImage = (): Answer => ({
  json: {
    candidates: [
      {
        content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: GEMINI_USAGE,
  },
});

describe('an image model in every format', () => {
  test('a chat model with images: several images are several conversations', async () => {
    const stage = await scene.stage(drawing({ type: 'google', upstreamModel: 'gemini-2.5-flash-image' }));
    stage.script(geminiImage(), geminiImage());
    const { status, headers, body } = await ask(stage, GENERATE, cat({ model: stage.model, n: 2, size: '1600x900' }));
    expect([status, body.data]).toEqual([200, [{ b64_json: PNG }, { b64_json: PNG }]]);
    expect(headers.get('x-modelport-warnings')).toContain('1600x900');
    expect(stage.journal()).toHaveLength(2);
    expect(stage.journal()[0]?.body).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } },
    });
    expect(nanoCost(await stage.settledCall())).toBe(2n * PER_IMAGE);
  });

  test('an image-only model in a conversation edits the last image', async () => {
    const stage = await scene.stage(drawing({ type: 'openai', upstreamModel: 'gpt-image-1.5' }));
    stage.script(answer({ b64_json: PNG }));
    const messages = [
      { role: 'user', content: 'A cat' },
      { role: 'assistant', content: `![image](data:image/png;base64,${PNG})` },
      { role: 'user', content: 'Bluer' },
    ];
    const { status, body } = await ask(stage, '/v1/chat/completions', { model: stage.model, messages });
    expect(status).toBe(200);
    expect(body.choices[0].message.content).toBe(`![image](data:image/png;base64,${PNG})`);
    expect(stage.journal()[0]?.path).toEndWith('/images/edits');
    expect(stage.journal()[0]?.body).toMatchObject({
      prompt: 'Bluer',
      images: [{ image_url: `data:image/png;base64,${PNG}` }],
    });
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  test('the same through generateContent, from a URL, streaming', async () => {
    const stage = await scene.stage(drawing({ type: 'openai-compatible' }));
    stage.script(answer({ url: address }));
    const contents = [{ role: 'user', parts: [{ text: 'A cat' }] }];
    const generationConfig = { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '1K' } };
    const path = `/v1beta/models/${stage.model}:streamGenerateContent?alt=sse`;
    const replies = await events(await send(stage, path, { contents, generationConfig }));
    const parts = replies.flatMap((reply) => reply.candidates[0].content.parts).filter((part: Body) => part.inlineData);
    expect(parts[0].inlineData).toEqual({ mimeType: 'image/png', data: PNG });
    expect(stage.journal()[0]?.body).toMatchObject({ prompt: 'A cat', size: '1376x768' });
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });
});
