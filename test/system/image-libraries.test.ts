/** Images with the official libraries: with the sandbox, recorded replies and aimock. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Aimock, startAimock } from '../clients/aimock.ts';
import { type ImagesAsked, type ImagesClient, type ImagesView, startImagesClient } from '../clients/images-client.ts';
import { hasFixtures, recordedCase, replyBytes } from '../helpers/fixtures.ts';
import { nanoCost, type Scene, type Stage, type StageSetup, startScene } from '../helpers/scene.ts';

setDefaultTimeout(30_000);

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PER_IMAGE = 2_000_000n;
const SANDBOX = { type: 'sandbox', upstreamModel: 'sandbox-image', baseUrls: ['http://sandbox.invalid/v1'] };

let scene: Scene;
let client: ImagesClient;
let aimock: Aimock;
beforeAll(async () => {
  const image = { image: { b64Json: PNG, revisedPrompt: 'A cat, seen from above' } };
  const mocked = ['generations', 'edits', 'predictions'].map((userMessage) => ({
    match: { userMessage },
    response: image,
  }));
  [scene, client, aimock] = await Promise.all([startScene(), startImagesClient(), startAimock(mocked, 0)]);
}, 320_000);
afterEach(() => scene.assertClean());
afterAll(async () => {
  client.stop();
  await aimock.stop();
  await scene.close();
}, 60_000);

const drawing = (setup: StageSetup = SANDBOX) => scene.stage({ kind: 'image', price: { perImage: 0.002 }, ...setup });

function run(stage: Stage, call: ImagesAsked['call'], request: object): Promise<ImagesView> {
  const at = { url: scene.gateway.url, apiKey: stage.caller.key };
  return client.run({ call, at, request: { model: stage.model, ...request } });
}

async function given(stage: Stage, call: ImagesAsked['call'], request: object): Promise<ImagesView['reply']> {
  const { reply, error } = await run(stage, call, request);
  if (error) throw new Error(JSON.stringify(error));
  return reply;
}

function pixels(base64: string): string {
  const png = Buffer.from(base64, 'base64');
  expect(png.toString('latin1', 1, 4)).toBe('PNG');
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}

describe('openai', () => {
  test('generates the requested size and number, each charged', async () => {
    const stage = await drawing();
    const { data, created, usage } = await given(stage, 'openai generate', { prompt: 'A cat', size: '320x256', n: 2 });
    expect(data.map(({ b64_json }: { b64_json: string }) => pixels(b64_json))).toEqual(['320x256', '320x256']);
    expect(created).toBeGreaterThan(1_700_000_000);
    expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens);
    expect(nanoCost(await stage.settledCall())).toBe(2n * PER_IMAGE);
  });

  test('generates in a stream, with partial images first', async () => {
    const stage = await drawing();
    const events = await given(stage, 'openai generate', {
      prompt: 'A cat',
      stream: true,
      partial_images: 2,
      size: '256x256',
    });
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(events.map((event: { partial_image_index?: number }) => event.partial_image_index)).toEqual([
      0,
      1,
      undefined,
    ]);
    expect(pixels(events[2].b64_json)).toBe('256x256');
    expect(events[2].usage.output_tokens).toBeGreaterThan(0);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  test('edits one image, several, with a mask, and in a stream', async () => {
    const stage = await drawing();
    const one = await given(stage, 'openai edit', { prompt: 'Bluer', images: [PNG], size: '128x128' });
    expect(one.data[0].revised_prompt).toEndWith('[from 1x1, 70 bytes]');
    const two = await given(stage, 'openai edit', {
      prompt: 'Bluer',
      images: [PNG, PNG],
      mask: PNG,
      n: 2,
      size: '128x128',
    });
    expect(two.data).toHaveLength(2);
    expect(two.data[0].revised_prompt).toEndWith('[from 1x1, 70 bytes; 1x1, 70 bytes]');
    const request = { prompt: 'Bluer', images: [PNG], size: '128x128', stream: true, partial_images: 1 };
    const events = await given(stage, 'openai edit', request);
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'image_edit.partial_image',
      'image_edit.completed',
    ]);
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, 2n * PER_IMAGE, PER_IMAGE]);
  });

  test('throws its own exception for an invalid request', async () => {
    const stage = await drawing();
    const many = await run(stage, 'openai generate', { prompt: 'A cat', n: 11 });
    expect(many.error).toMatchObject({ class: 'BadRequestError', status: 400, code: 'too_many_images' });
    const none = await run(stage, 'openai generate', { prompt: 'A cat', n: 0 });
    expect(none.error).toMatchObject({ class: 'BadRequestError', status: 400 });
    expect(await stage.settled()).toEqual([]);
  });

  test.skipIf(!hasFixtures).each([
    ['openai', 'gpt-image-1-mini', 'envoy-image-generation-basic.json'],
    ['openai', 'gpt-image-2', 'openai/openai-image.json'],
    ['xai', 'grok-imagine-image', 'grok-imagine-image_can_paint_images.0.json'],
  ])('reads the recorded answers of %s', async (type, upstreamModel, file) => {
    const stage = await drawing({ type, upstreamModel });
    const recorded = JSON.parse(Buffer.from(replyBytes(recordedCase(file))).toString());
    stage.script({ json: recorded });
    const { data } = await given(stage, 'openai generate', { prompt: 'A cat' });
    expect(data).toEqual(recorded.data);
    expect(nanoCost(await stage.settledCall())).toBe(BigInt(recorded.data.length) * PER_IMAGE);
  });
});

describe('the AI SDK', () => {
  test.each(['ai openai', 'ai compatible'] as const)('%s generates and edits images', async (call) => {
    const stage = await drawing();
    const more = call === 'ai compatible' ? {} : { maxImagesPerCall: 2 };
    const two = await given(stage, call, { prompt: 'A cat', n: 2, size: '320x256', ...more });
    expect(two.images.map(({ base64 }: { base64: string }) => pixels(base64))).toEqual(['320x256', '320x256']);
    expect(two.images[0].mediaType).toBe('image/png');
    const changed = await given(stage, call, {
      prompt: { text: 'Bluer', images: [PNG, PNG], mask: PNG },
      size: '128x128',
    });
    expect(pixels(changed.images[0].base64)).toBe('128x128');
    expect((await stage.settled()).map(nanoCost)).toEqual([2n * PER_IMAGE, PER_IMAGE]);
  });

  test('ai google requests images in a conversation', async () => {
    const stage = await drawing({ ...SANDBOX, model: 'gemini-sandbox-image' });
    const { images } = await given(stage, 'ai google', { prompt: 'A cat', aspectRatio: '16:9' });
    expect(pixels(images[0].base64)).toBe('1376x768');
    const changed = await given(stage, 'ai google', { prompt: { text: 'Bluer', images: [PNG] } });
    expect(changed.images).toHaveLength(1);
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, PER_IMAGE]);
  });

  test('ai openai and ai google use an image model of another provider', async () => {
    const stage = await drawing({ type: 'stability', upstreamModel: 'stable-image-ultra', model: 'gemini-stable' });
    stage.script({ json: { image: PNG, finish_reason: 'SUCCESS' }, repeat: true });
    for (const call of ['ai openai', 'ai google'] as const) {
      expect((await given(stage, call, { prompt: 'A cat' })).images).toEqual([{ base64: PNG, mediaType: 'image/png' }]);
    }
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, PER_IMAGE]);
  });
});

describe('genai', () => {
  const config = { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '1:1', imageSize: '512' } };
  const imageIn = (parts: { inlineData?: { data: string; mimeType: string } }[]) =>
    parts.find(({ inlineData }) => inlineData)?.inlineData;

  test('generates non-streaming and streaming', async () => {
    const stage = await drawing();
    const whole = await given(stage, 'genai generate', { contents: 'A cat', config });
    expect(imageIn(whole.parts)?.mimeType).toBe('image/png');
    expect(pixels(imageIn(whole.parts)?.data ?? '')).toBe('512x512');
    const { parts } = await given(stage, 'genai stream', { contents: 'A cat', config });
    expect(pixels(imageIn(parts)?.data ?? '')).toBe('512x512');
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, PER_IMAGE]);
  });

  test('edits an image of the request, and the last generated one of a conversation', async () => {
    const stage = await drawing({ type: 'openai', upstreamModel: 'gpt-image-1.5' });
    stage.script({ json: { created: 1, data: [{ b64_json: PNG }] }, repeat: true });
    const contents = [{ text: 'Bluer' }, { inlineData: { mimeType: 'image/png', data: PNG } }];
    expect(imageIn((await given(stage, 'genai generate', { contents, config })).parts)?.data).toBe(PNG);
    const replies = await given(stage, 'genai chat', { config, messages: ['A cat', 'Now bluer'] });
    expect(replies).toHaveLength(2);
    expect(stage.journal().map(({ path }) => path.slice(path.lastIndexOf('/')))).toEqual([
      '/edits',
      '/generations',
      '/edits',
    ]);
    expect(stage.journal()[2]?.body).toMatchObject({
      prompt: 'Now bluer',
      images: [{ image_url: `data:image/png;base64,${PNG}` }],
    });
    expect((await stage.settled()).map(nanoCost)).toEqual([PER_IMAGE, PER_IMAGE, PER_IMAGE]);
  });

  test('generateImages works only for Vertex AI: otherwise the library itself refuses it', async () => {
    const stage = await drawing();
    const { error } = await run(stage, 'genai images', { prompt: 'A cat' });
    expect(error?.message).toContain('Vertex');
    expect(await stage.settled()).toEqual([]);
  });
});

describe('with aimock', () => {
  test('OpenAI: generation and edit', async () => {
    const stage = await drawing({ type: 'openai', upstreamModel: 'gpt-image-1.5', baseUrls: [`${aimock.url}/v1`] });
    const { data } = await given(stage, 'openai generate', { prompt: 'generations' });
    expect(data).toEqual([{ b64_json: PNG, revised_prompt: 'A cat, seen from above' }]);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
    const other = await drawing({ type: 'openai-compatible', baseUrls: [`${aimock.url}/v1`] });
    const edited = await given(other, 'openai edit', { prompt: 'edits', images: [PNG] });
    expect(edited.data[0].b64_json).toBe(PNG);
  });

  test('Imagen', async () => {
    const setup = { type: 'google', upstreamModel: 'imagen-4.0-generate-001', baseUrls: [`${aimock.url}/v1beta`] };
    const stage = await drawing(setup);
    const { data } = await given(stage, 'openai generate', { prompt: 'predictions' });
    expect(data[0].b64_json).toBe(PNG);
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });
});
