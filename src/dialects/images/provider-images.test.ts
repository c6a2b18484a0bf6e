import { describe, expect, test } from 'bun:test';
import { hasFixtures, recordedCases, replyBytes } from '../../../test/helpers/fixtures.ts';
import { imageCall } from '../../../test/helpers/image-call.ts';
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { addEvent, emptyReply, type Reply } from '../../canonical/reply.ts';
import type { ProviderDialect } from '../dialect.ts';
import { dashscopeImages, dashscopeImageTasks } from './dashscope-images.ts';
import { imagen } from './imagen.ts';
import { stabilityImages } from './stability.ts';

const IMAGE = { kind: 'image', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'image/png' } as const;
const written = (dialect: ProviderDialect<ImageCall>, members: Partial<ImageCall> = {}, model = 'm') => {
  const { body, warnings } = dialect.writeCall(imageCall(members), model, {});
  return { body: JSON.parse(new TextDecoder().decode(body)), warnings };
};
const read = (dialect: ProviderDialect<ImageCall>, body: Uint8Array): Reply | GatewayError => {
  const reader = dialect.reader(imageCall(), 'application/json', {});
  const reply = emptyReply();
  for (const event of [...reader.read(body), ...reader.end()].flatMap((frame) => frame.events)) {
    if (event.type === 'error') return event.error;
    addEvent(reply, event);
  }
  return reply;
};
const encode = (body: object) => new TextEncoder().encode(JSON.stringify(body));

describe('Imagen', () => {
  test('gets aspect ratio and resolution class', () => {
    const { body, warnings } = written(imagen, {
      n: 3,
      size: { pixels: { width: 2048, height: 1152 } },
      negativePrompt: 'dogs',
      seed: 5,
      format: 'jpeg',
      compression: 70,
      quality: 'high',
    });
    expect(body).toEqual({
      instances: [{ prompt: 'A cat' }],
      parameters: {
        sampleCount: 3,
        aspectRatio: '16:9',
        sampleImageSize: '1K',
        includeRaiReason: true,
        negativePrompt: 'dogs',
        seed: 5,
        addWatermark: false,
        outputOptions: { mimeType: 'image/jpeg', compressionQuality: 70 },
      },
    });
    expect(warnings).toHaveLength(2);
    expect(() => written(imagen, { edit: true, images: [IMAGE] })).toThrow(GatewayError);
  });

  test.skipIf(!hasFixtures)('its recorded replies', () => {
    const found = recordedCases('imagen-predict').map(
      (one) => [one.file, read(imagen, Buffer.from(replyBytes(one)))] as const,
    );
    const named = (end: string) => found.find(([file]) => file.endsWith(end))?.[1];
    const reply = named('images-base64.json') as Reply;
    expect(reply.choices).toHaveLength(4);
    expect(reply.usage?.images).toBe(4);
    const filtered = named('all-filtered.json') as GatewayError;
    expect([filtered.code, filtered.retryable, filtered.message]).toEqual([
      'upstream_refused',
      false,
      expect.stringContaining('filtered out'),
    ]);
  });
});

describe('DashScope', () => {
  test('synchronous: images and text in one message', () => {
    const { body, warnings } = written(
      dashscopeImages,
      {
        n: 2,
        size: { aspectRatio: '1:1' },
        seed: 3,
        negativePrompt: 'dogs',
        images: [IMAGE],
        edit: true,
        user: 'u',
      },
      'qwen-image-edit',
    );
    expect(body).toEqual({
      model: 'qwen-image-edit',
      input: { messages: [{ role: 'user', content: [{ image: 'data:image/png;base64,AAAA' }, { text: 'A cat' }] }] },
      parameters: { n: 2, size: '1024*1024', seed: 3, negative_prompt: 'dogs' },
    });
    expect(warnings).toHaveLength(1);
    const content = [{ image: 'https://a.test/1.png' }, { text: 'x' }];
    const reply = read(dashscopeImages, encode({ output: { choices: [{ message: { content } }] } })) as Reply;
    expect(reply.choices[0]?.parts[0]?.opens).toEqual({
      type: 'image',
      mimeType: 'image/png',
      url: 'https://a.test/1.png',
    });
  });

  test('as a task: the successful ones of several, or why all failed', () => {
    const { body } = written(dashscopeImageTasks, { negativePrompt: 'dogs' }, 'wan2.2-t2i-flash');
    expect(body).toEqual({
      model: 'wan2.2-t2i-flash',
      input: { prompt: 'A cat', negative_prompt: 'dogs' },
      parameters: { n: 1 },
    });
    const results = [{ url: 'https://a.test/1.png' }, { code: 'InternalError', message: 'no' }];
    const reply = read(dashscopeImageTasks, encode({ output: { task_status: 'SUCCEEDED', results } })) as Reply;
    expect(reply.usage?.images).toBe(1);
    const refused = { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'Not that.' };
    expect(read(dashscopeImageTasks, encode({ output: refused }))).toMatchObject({
      code: 'upstream_refused',
      message: 'Not that.',
    });
    const failed = { task_status: 'FAILED', code: 'InternalError', message: 'disk' };
    expect(read(dashscopeImageTasks, encode({ output: failed }))).toMatchObject({
      code: 'upstream_failed',
      retryable: true,
    });
  });
});

describe('Stability', () => {
  test('gets a form', () => {
    const call = imageCall({
      size: { aspectRatio: '16:9' },
      seed: 4,
      style: 'anime',
      images: [IMAGE, IMAGE],
      edit: true,
    });
    const { form, warnings } = stabilityImages.writeCall(call, 'sd3.5-large', {});
    expect(form?.files).toMatchObject([{ name: 'image', contentType: 'image/png', upload: { size: 3 } }]);
    expect(Object.fromEntries(form?.fields ?? [])).toEqual({
      prompt: 'A cat',
      model: 'sd3.5-large',
      mode: 'image-to-image',
      strength: '0.7',
      seed: '4',
      style_preset: 'anime',
    });
    expect(warnings).toHaveLength(1);
  });

  test('its image, its filter, its errors', () => {
    expect(read(stabilityImages, encode({ image: 'iVBORw', finish_reason: 'SUCCESS', seed: 1 }))).toMatchObject({
      choices: [{ parts: [{ content: 'iVBORw' }] }],
    });
    expect(read(stabilityImages, encode({ image: 'iVBORw', finish_reason: 'CONTENT_FILTERED' }))).toMatchObject({
      code: 'upstream_refused',
    });
    const refusal = encode({ id: 'x', name: 'bad_request', errors: ['prompt: too long', 'seed: no number'] });
    expect(stabilityImages.readError(400, new Headers(), refusal)).toMatchObject({
      code: 'upstream_refused',
      message: 'prompt: too long seed: no number',
    });
  });
});
