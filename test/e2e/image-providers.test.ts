/** Image providers with formats of their own: URL, request, and tasks that are polled until finished. */
import { describe, expect, test } from 'bun:test';
import { nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PER_IMAGE = 2_000_000n;

const scene = useScene();

const drawing = (type: string, upstreamModel: string) =>
  scene.stage({ kind: 'image', price: { perImage: 0.002 }, type, upstreamModel });

async function ask(stage: Stage, more: object = {}) {
  const response = await stage.post('/v1/images/generations', { model: stage.model, prompt: 'A cat', ...more });
  const body = (await response.json()) as { data?: { url?: string; b64_json?: string }[]; error?: { code: string } };
  return { status: response.status, body };
}

test('Imagen: more images than it generates at once are several calls', async () => {
  const stage = await drawing('google', 'imagen-4.0-generate-001');
  const predictions = (count: number) => ({
    json: { predictions: Array.from({ length: count }, () => ({ bytesBase64Encoded: PNG, mimeType: 'image/png' })) },
  });
  stage.script(predictions(4), predictions(4));
  const { status, body } = await ask(stage, { n: 6 });
  expect([status, body.data?.length]).toEqual([200, 8]);
  expect(stage.journal().map(({ path }) => path.slice(path.indexOf('/models')))).toEqual([
    '/models/imagen-4.0-generate-001:predict',
    '/models/imagen-4.0-generate-001:predict',
  ]);
  expect(nanoCost(await stage.settledCall())).toBe(8n * PER_IMAGE);
});

describe('DashScope', () => {
  const url = 'https://images.test/1.png';

  test('generates at once', async () => {
    const stage = await drawing('dashscope', 'qwen-image');
    stage.script({ json: { output: { choices: [{ message: { role: 'assistant', content: [{ image: url }] } }] } } });
    expect((await ask(stage)).body.data).toEqual([{ url }]);
    expect(stage.journal()[0]?.path).toEndWith('/services/aigc/multimodal-generation/generation');
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  const state = (task_status: string, more: object = {}) => ({
    json: { output: { task_id: 't-1', task_status, ...more } },
  });

  test('or as a task that is polled through a temporary failure to the end', async () => {
    const stage = await drawing('dashscope', 'wan2.2-t2i-flash');
    stage.script(
      state('PENDING'),
      state('RUNNING'),
      { status: 500, json: {} },
      state('SUCCEEDED', { results: [{ url }, { code: 'InternalError', message: 'no' }] }),
    );
    expect((await ask(stage, { n: 2 })).body.data).toEqual([{ url }]);
    const [submitted, ...polls] = stage.journal();
    expect(submitted?.headers['x-dashscope-async']).toBe('enable');
    expect(polls.map(({ method, path }) => `${method} ${path.slice(-9)}`)).toEqual([
      'GET tasks/t-1',
      'GET tasks/t-1',
      'GET tasks/t-1',
    ]);
    expect(polls.every(({ headers }) => headers.authorization?.startsWith('Bearer '))).toBe(true);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  }, 60_000);

  test('a task that fails is not charged', async () => {
    const stage = await drawing('dashscope', 'wan2.2-t2i-flash');
    stage.script(state('PENDING'), state('FAILED', { code: 'DataInspectionFailed', message: 'Not that.' }));
    const { status, body } = await ask(stage);
    expect([status, body.error?.code]).toEqual([400, 'DataInspectionFailed']);
    expect((await stage.settledCall()).cost).toBe('0');
  }, 60_000);

  test('a client that disconnects ends the polling', async () => {
    const stage = await drawing('dashscope', 'wan2.2-t2i-flash');
    stage.script(state('PENDING'), { ...state('RUNNING'), repeat: true });
    const leaving = new AbortController();
    const request = { model: stage.model, prompt: 'A cat' };
    const asking = stage.post('/v1/images/generations', request, leaving.signal).catch((thrown: Error) => thrown.name);
    while (stage.journal().length < 2) await Bun.sleep(20);
    leaving.abort();
    expect(await asking).toBe('AbortError');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'aborted', cost: '0' });
    const requestCount = stage.journal().length;
    await Bun.sleep(1500);
    expect(stage.journal().length).toBe(requestCount);
  }, 60_000);
});

test('Stability gets a form, and one request per image', async () => {
  const stage = await drawing('stability', 'stable-image-core');
  stage.script({ json: { image: PNG, finish_reason: 'SUCCESS' }, repeat: true });
  expect((await ask(stage, { n: 2 })).body.data).toEqual([{ b64_json: PNG }, { b64_json: PNG }]);
  const [first] = stage.journal();
  expect(first?.path).toEndWith('/v2beta/stable-image/generate/core');
  expect(first?.headers['content-type']).toStartWith('multipart/form-data');
  expect(first?.headers.accept).toBe('application/json');
});

test('Seedream edits images on the endpoint that generates them', async () => {
  const stage = await drawing('volcengine', 'doubao-seedream-4-0-250828');
  stage.script({ json: { created: 1, data: [{ url: 'https://images.test/1.png', size: '2048x2048' }] } });
  expect((await ask(stage, { image: `data:image/png;base64,${PNG}`, size: '2K' })).status).toBe(200);
  const [sent] = stage.journal();
  expect(sent?.path).toEndWith('/images/generations');
  expect(sent?.body).toEqual({
    model: 'doubao-seedream-4-0-250828',
    prompt: 'A cat',
    size: '2K',
    image: `data:image/png;base64,${PNG}`,
  });
});

describe('JSON requests of each provider', () => {
  const url = 'https://images.test/1.png';
  const data = `data:image/png;base64,${PNG}`;
  const rows: [string, string, object, string, object, string][] = [
    ['openai', 'dall-e-3', { stream: true }, '/images/generations', {}, 'stream'],
    ['openai', 'gpt-image-2', { size: '1000x1000' }, '/images/generations', { size: '1008x1008' }, '1008x1008'],
    ['xai', 'grok-imagine-image', { size: '2K' }, '/images/generations', { resolution: '2k' }, ''],
    ['xai', 'grok-imagine-image', { image: data }, '/images/edits', { image: { type: 'image_url', url: data } }, ''],
    ['together', 'a/FLUX.2-pro', { size: '640x480' }, '/images/generations', { width: 640, height: 480 }, ''],
    ['together', 'a/FLUX.2-pro', { image: url }, '/images/generations', { reference_images: [url] }, ''],
    [
      'together',
      'a/FLUX.1-kontext-pro',
      { image: url, size: '16:9' },
      '/images/generations',
      { image_url: url, aspect_ratio: '16:9' },
      '',
    ],
    [
      'siliconflow',
      'Qwen/Qwen-Image',
      { size: '1600x900' },
      '/images/generations',
      { image_size: '1664x928' },
      '1664x928',
    ],
    [
      'siliconflow',
      'Qwen/Qwen-Image-Edit-2509',
      { images: [url, data] },
      '/images/generations',
      { image: url, image2: data },
      '',
    ],
    [
      'zhipu',
      'glm-image',
      { size: '512x512', user: 'u-1' },
      '/images/generations',
      { size: '1024x1024', user_id: 'u-1' },
      '1024x1024',
    ],
    [
      'volcengine',
      'doubao-seedream-4-5-251128',
      { size: '1024x1024', seed: 3 },
      '/images/generations',
      { size: '1920x1920' },
      'seed',
    ],
    [
      'volcengine',
      'doubao-seedream-5-0-260128',
      { size: '2K', stream: true },
      '/images/generations',
      { size: '2K' },
      'stream',
    ],
  ];
  test.each(rows)('%s %s %p', async (type, upstreamModel, more, path, expected, warned) => {
    const stage = await drawing(type, upstreamModel);
    stage.script({ json: { created: 1, data: [{ url }] } });
    const response = await stage.post('/v1/images/generations', { model: stage.model, prompt: 'A cat', ...more });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(url);
    const [sent] = stage.journal();
    expect(sent?.path).toEndWith(path);
    expect(sent?.body).toEqual({ model: upstreamModel, prompt: 'A cat', ...expected });
    if (warned === '') expect(response.headers.get('x-modelport-warnings') ?? '').not.toContain('was changed to');
    else expect(response.headers.get('x-modelport-warnings')).toContain(warned);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  const anew: [string, string][] = [
    ['zhipu', 'glm-image'],
    ['together', 'a/FLUX.1-schnell'],
    ['stability', 'stable-image-core'],
    ['dashscope', 'qwen-image-max'],
    ['google', 'imagen-4.0-generate-001'],
  ];
  test.each(anew)(
    '%s %s only generates new images: an edit is refused, nothing sent, nothing charged',
    async (type, upstreamModel) => {
      const stage = await drawing(type, upstreamModel);
      const response = await stage.post('/v1/images/edits', { model: stage.model, prompt: 'A cat', image: data });
      expect([response.status, stage.journal().length]).toEqual([400, 0]);
      expect((await stage.settledCall()).cost).toBe('0');
    },
  );

  test('a model that generates one image per call is called for each image, in order', async () => {
    const stage = await drawing('openai', 'dall-e-3');
    const urls = [1, 2, 3].map((number) => `https://images.test/${number}.png`);
    stage.script(...urls.map((one) => ({ json: { created: 1, data: [{ url: one }] } })));
    expect((await ask(stage, { n: 3 })).body.data).toHaveLength(3);
    expect(stage.journal().map(({ body }) => body)).toEqual(Array(3).fill({ model: 'dall-e-3', prompt: 'A cat' }));
    expect(nanoCost(await stage.settledCall())).toBe(3n * PER_IMAGE);
  });

  test('if one of several images is blocked, the others are returned and charged', async () => {
    const stage = await drawing('xai', 'grok-imagine-image');
    stage.script({
      json: { data: [{ url }, { url: '', respect_moderation: false }], usage: { cost_in_usd_ticks: 2 } },
    });
    expect((await ask(stage, { n: 2 })).body.data).toContainEqual({ url });
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  test('if one of several images fails, the call fails without a charge', async () => {
    const stage = await drawing('openai', 'dall-e-3');
    stage.script({ json: { created: 1, data: [{ url }] } }, { status: 500, json: {} });
    expect((await ask(stage, { n: 2 })).status).toBe(502);
    expect((await stage.settledCall()).cost).toBe('0');
  });

  test('DashScope: sizes of each model family, and an edit by description', async () => {
    const output = { output: { choices: [{ message: { role: 'assistant', content: [{ image: url }] } }] } };
    const sizes: [string, string, string][] = [
      ['qwen-image-max', '1024x1024', '1328*1328'],
      ['qwen-image-2.0-pro', '1024x1024', '1024*1024'],
      ['wan2.6-t2i', '1024x1024', '1280*1280'],
      ['wan2.7-image-pro', '4K', '4K'],
    ];
    for (const [upstreamModel, size, expected] of sizes) {
      const stage = await drawing('dashscope', upstreamModel);
      stage.script({ json: output });
      expect((await ask(stage, { size })).status).toBe(200);
      expect(stage.journal()[0]?.body).toMatchObject({ parameters: { n: 1, size: expected } });
      await stage.settledCall();
    }
    const stage = await drawing('dashscope', 'wanx2.1-imageedit');
    stage.script({ json: { output: { task_id: 't', task_status: 'SUCCEEDED', results: [{ url }] } } });
    expect((await ask(stage, { image: data, mask: data })).body.data).toEqual([{ url }]);
    expect(stage.journal()[0]?.path).toEndWith('/services/aigc/image2image/image-synthesis');
    expect(stage.journal()[0]?.body).toMatchObject({
      input: { prompt: 'A cat', function: 'description_edit_with_mask', base_image_url: data, mask_image_url: data },
    });
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });
});
