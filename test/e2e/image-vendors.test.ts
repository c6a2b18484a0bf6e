/** Vendors that are asked for pictures in formats of their own: where, with what, and work that is asked after until it is done. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { nanoCost, type Scene, type Stage, startScene } from '../scene.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PER_IMAGE = 2_000_000n;

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
}, 60_000);
afterEach(() => scene.assertClean());
afterAll(() => scene.close(), 60_000);

const drawing = (type: string, upstreamModel: string) =>
  scene.stage({ kind: 'image', price: { perImage: 0.002 }, type, upstreamModel });

async function ask(stage: Stage, more: object = {}) {
  const response = await stage.post('/v1/images/generations', { model: stage.model, prompt: 'A cat', ...more });
  const body = (await response.json()) as { data?: { url?: string; b64_json?: string }[]; error?: { code: string } };
  return { status: response.status, body };
}

test('Imagen: more pictures than it draws at once are several calls', async () => {
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
  const url = 'https://pictures.test/1.png';

  test('draws at once', async () => {
    const stage = await drawing('dashscope', 'qwen-image');
    stage.script({ json: { output: { choices: [{ message: { role: 'assistant', content: [{ image: url }] } }] } } });
    expect((await ask(stage)).body.data).toEqual([{ url }]);
    expect(stage.journal()[0]?.path).toEndWith('/services/aigc/multimodal-generation/generation');
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  const state = (task_status: string, more: object = {}) => ({
    json: { output: { task_id: 't-1', task_status, ...more } },
  });

  test('or as a task that is asked after: through a hiccup, to the end', async () => {
    const stage = await drawing('dashscope', 'wan2.2-t2i-flash');
    stage.script(
      state('PENDING'),
      state('RUNNING'),
      { status: 500, json: {} },
      state('SUCCEEDED', { results: [{ url }, { code: 'InternalError', message: 'no' }] }),
    );
    expect((await ask(stage, { n: 2 })).body.data).toEqual([{ url }]);
    const [submitted, ...asked] = stage.journal();
    expect(submitted?.headers['x-dashscope-async']).toBe('enable');
    expect(asked.map(({ method, path }) => `${method} ${path.slice(-9)}`)).toEqual([
      'GET tasks/t-1',
      'GET tasks/t-1',
      'GET tasks/t-1',
    ]);
    expect(asked.every(({ headers }) => headers.authorization?.startsWith('Bearer '))).toBe(true);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  }, 20_000);

  test('one that fails is charged for nothing', async () => {
    const stage = await drawing('dashscope', 'wan2.2-t2i-flash');
    stage.script(state('PENDING'), state('FAILED', { code: 'DataInspectionFailed', message: 'Not that.' }));
    const { status, body } = await ask(stage);
    expect([status, body.error?.code]).toEqual([400, 'DataInspectionFailed']);
    expect((await stage.settledCall()).cost).toBe('0');
  }, 20_000);

  test('a client that leaves ends the asking', async () => {
    const stage = await drawing('dashscope', 'wan2.2-t2i-flash');
    stage.script(state('PENDING'), { ...state('RUNNING'), repeat: true });
    const leaving = new AbortController();
    const request = { model: stage.model, prompt: 'A cat' };
    const asking = stage.post('/v1/images/generations', request, leaving.signal).catch((thrown: Error) => thrown.name);
    while (stage.journal().length < 2) await Bun.sleep(20);
    leaving.abort();
    expect(await asking).toBe('AbortError');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'aborted', cost: '0' });
    const asked = stage.journal().length;
    await Bun.sleep(1500);
    expect(stage.journal().length).toBe(asked);
  }, 20_000);
});

test('Stability: a form, and a picture a call', async () => {
  const stage = await drawing('stability', 'stable-image-core');
  stage.script({ json: { image: PNG, finish_reason: 'SUCCESS' }, repeat: true });
  expect((await ask(stage, { n: 2 })).body.data).toEqual([{ b64_json: PNG }, { b64_json: PNG }]);
  const [first] = stage.journal();
  expect(first?.path).toEndWith('/v2beta/stable-image/generate/core');
  expect(first?.headers['content-type']).toStartWith('multipart/form-data');
  expect(first?.headers.accept).toBe('application/json');
});

test('Seedream: pictures are changed where they are drawn', async () => {
  const stage = await drawing('volcengine', 'doubao-seedream-4-0-250828');
  stage.script({ json: { created: 1, data: [{ url: 'https://pictures.test/1.png', size: '2048x2048' }] } });
  expect((await ask(stage, { image: `data:image/png;base64,${PNG}`, size: '2K' })).status).toBe(200);
  const [sent] = stage.journal();
  expect(sent?.path).toEndWith('/images/generations');
  expect(sent?.body).toEqual({
    model: 'doubao-seedream-4-0-250828',
    prompt: 'A cat',
    size: '2048x2048',
    image: `data:image/png;base64,${PNG}`,
  });
});
