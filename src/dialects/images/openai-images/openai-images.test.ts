import { describe, expect, test } from 'bun:test';
import { recordedCases, replyBytes, requestBytes } from '../../../../test/helpers/fixtures.ts';
import type { Image, ImageCall } from '../../../canonical/call.ts';
import { addEvent, emptyReply } from '../../../canonical/reply.ts';
import { gathered, uploadOf } from '../../../canonical/upload.ts';
import type { Frame } from '../../dialect.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { type Form, formType, streamForm } from '../../wire/multipart.ts';
import { openaiImages } from './openai-images.ts';

const encode = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const decode = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

function read(body: Uint8Array | object, action = 'generations', contentType = 'application/json'): ImageCall {
  const bytes = body instanceof Uint8Array ? body : encode(body);
  const headers = new Headers({ 'content-type': contentType });
  return openaiImages.readCall({ body: bytes, headers, path: { action }, query: new URLSearchParams() });
}

const base64Of = (images: readonly (Image | undefined)[]) =>
  Promise.all(
    images.map(async (image) => {
      if (image?.source.type === 'inline') return image.source.base64;
      if (image?.source.type !== 'upload') return undefined;
      return Buffer.from(await gathered(image.source.upload)).toString('base64');
    }),
  );

const FULL = {
  model: 'm',
  prompt: 'A cat',
  n: 2,
  size: '1024x768',
  quality: 'high',
  style: 'vivid',
  background: 'transparent',
  output_format: 'webp',
  output_compression: 80,
  response_format: 'b64_json',
  stream: true,
  partial_images: 2,
  negative_prompt: 'dogs',
  seed: 7,
  user: 'u',
  unknown: { a: 1 },
};

describe('a request', () => {
  test('written for its own dialect parses to the same', () => {
    const call = read(FULL);
    const again = read(openaiImages.writeCall(call, 'm', {}).body);
    expect({ ...again, origin: undefined }).toEqual({ ...call, origin: undefined } as never);
    expect(decode(openaiImages.writeCall(call, 'm', {}).body)).toEqual(FULL);
  });

  test('of an edit, as JSON and as a form, too', async () => {
    const image = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==';
    const call = read({ model: 'm', prompt: 'Bluer', images: [{ image_url: image }, image], mask: image }, 'edits');
    expect(call.images).toHaveLength(2);
    for (const quirks of [
      {},
      { requiresEditForm: true },
      { requiresEditImages: 'typed' },
      { requiresEditImages: 'bare' },
    ] satisfies Quirks[]) {
      const { body, form, warnings } = openaiImages.writeCall(call, 'm', quirks);
      const { images, mask, prompt } = form
        ? read(await gathered(streamForm(form, 'b')), 'edits', formType('b'))
        : read(body, 'edits');
      expect(prompt).toBe('Bluer');
      expect(await base64Of(images)).toEqual(await base64Of(call.images));
      if (quirks.requiresEditImages === undefined) expect(await base64Of([mask])).toEqual(await base64Of([call.mask]));
      else expect(warnings).toEqual(['`mask` was dropped: the provider has no such member.']);
    }
  });

  test('in a form is its fields and files: images stay as they are, their type is detected if nobody names it', () => {
    const image = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const [first, second, mask] = [uploadOf(image), uploadOf(Buffer.from('x')), uploadOf(image)];
    const form: Form = {
      fields: [
        ['model', 'm'],
        ['prompt', 'Bluer'],
        ['n', '2'],
        ['image[]', 'https://a.test/1.png'],
      ],
      files: [
        { name: 'image[0]', filename: 'a', contentType: 'application/octet-stream', upload: first },
        { name: 'image[]', filename: 'b.webp', contentType: 'image/webp', upload: second },
        { name: 'mask', filename: 'm.png', upload: mask },
      ],
    };
    const headers = new Headers({ 'content-type': 'multipart/form-data; boundary=b' });
    const request = { body: new Uint8Array(), headers, path: { action: 'edits' }, query: new URLSearchParams() };
    const call = openaiImages.readCall({ ...request, form });
    expect(call).toMatchObject({ prompt: 'Bluer', n: 2, edit: true, extras: {} });
    expect(call.images.map(({ mimeType, name }) => [mimeType, name])).toEqual([
      ['image/png', 'a'],
      ['image/webp', 'b.webp'],
      [undefined, undefined],
    ]);
    expect(call.images[0]?.source).toEqual({ type: 'upload', upload: first });
    expect(call.mask?.source).toEqual({ type: 'upload', upload: mask });
    const { form: written } = openaiImages.writeCall(call, 'up', { requiresEditForm: true });
    expect(written?.files.map(({ name, filename }) => [name, filename])).toEqual([
      ['image[]', 'a'],
      ['image[]', 'b.webp'],
      ['image[]', 'image-3.png'],
      ['mask', 'm.png'],
    ]);
    expect(written?.files[0]?.upload).toBe(first);
    const none = { ...form, files: [{ name: 'image', filename: 'a', upload: uploadOf(new Uint8Array()) }] };
    expect(() => openaiImages.readCall({ ...request, form: none })).toThrow('holds no bytes');
  });

  test("of an edit, in each of the providers' image members", () => {
    const [one, two] = ['https://a.test/1.png', 'https://a.test/2.png'];
    const held = (requiresEditImages: NonNullable<Quirks['requiresEditImages']>, ...images: string[]) => {
      const call = read({ model: 'm', prompt: 'Bluer', images }, 'edits');
      const {
        model: _,
        prompt: __,
        ...members
      } = decode(openaiImages.writeCall(call, 'm', { requiresEditImages }).body);
      return members;
    };
    expect(held('typed', one)).toEqual({ image: { type: 'image_url', url: one } });
    expect(held('typed', one, two)).toEqual({
      images: [
        { type: 'image_url', url: one },
        { type: 'image_url', url: two },
      ],
    });
    expect(held('bare', one)).toEqual({ image: one });
    expect(held('bare', one, two)).toEqual({ image: [one, two] });
    expect(held('numbered', one, two)).toEqual({ image: one, image2: two });
    expect(held('image_url', one, two)).toEqual({ image_url: one });
    expect(held('reference_images', one)).toEqual({ reference_images: [one] });
    expect(() =>
      openaiImages.writeCall(read({ model: 'm', prompt: 'x', image: one }, 'edits'), 'm', {
        supportsImageInput: false,
      }),
    ).toThrow('cannot edit images');
  });

  test("sizes are in the provider's members, in both request shapes", () => {
    const written = (more: object, quirks: Quirks) => {
      const call = read({ model: 'm', prompt: 'A cat', ...more });
      const { model: _, prompt: __, ...written } = decode(openaiImages.writeCall(call, 'm', quirks).body);
      const { body, warnings } = openaiImages.passCall(call, 'm', quirks);
      expect(decode(body)).toEqual({ model: 'm', prompt: 'A cat', ...written });
      return { ...written, losses: warnings.length };
    };
    const bounds: Quirks = {
      supportsImageBounds: { grid: 16, least: 3_686_400, mostRatio: 16 },
      supportsImageSizeNames: ['2K'],
    };
    expect(written({ size: '1024x1024' }, bounds)).toEqual({ size: '1920x1920', losses: 1 });
    expect(written({ size: '2048x2048' }, bounds)).toEqual({ size: '2048x2048', losses: 0 });
    expect(written({ size: '2K' }, bounds)).toEqual({ size: '2K', losses: 0 });
    expect(written({ aspect_ratio: '16:9', size: '2K' }, bounds)).toEqual({ size: '2720x1536', losses: 0 });
    expect(written({}, bounds)).toEqual({ losses: 0 });
    expect(written({ size: '1000x500' }, { requiresImageSides: true, supportsImageBounds: { grid: 8 } })).toEqual({
      width: 1000,
      height: 504,
      losses: 1,
    });
    const shapes: Quirks = {
      requiresImageRatios: ['1:1', '16:9', '9:19.5'],
      supportsImageResolutions: { '1K': '1k', '2K': '2k', '4K': '2k' },
    };
    expect(written({ size: '16:9' }, shapes)).toEqual({ aspect_ratio: '16:9', losses: 0 });
    expect(written({ size: '1600x900' }, shapes)).toEqual({ aspect_ratio: '16:9', resolution: '1k', losses: 1 });
    expect(written({ size: '4K' }, shapes)).toEqual({ resolution: '2k', losses: 1 });
    expect(written({ aspect_ratio: '9:19.5' }, shapes)).toEqual({ aspect_ratio: '9:19.5', losses: 0 });
    const needy: Quirks = {
      requiresImageSize: true,
      supportsImageSizes: ['1328x1328', '1664x928'],
      renames: { size: 'image_size' },
    };
    expect(written({}, needy)).toEqual({ image_size: '1328x1328', losses: 0 });
    expect(written({ size: '1600x900' }, needy)).toEqual({ image_size: '1664x928', losses: 1 });
    expect(written({ response_format: 'b64_json' }, { requiresBase64Word: 'base64' })).toEqual({
      response_format: 'base64',
      losses: 0,
    });
  });

  test('other members of the provider are renamed, in both request shapes', () => {
    const call = read({ model: 'm', prompt: 'A cat', size: '1600x900', style: 'vivid' });
    const quirks: Quirks = { rejects: ['style'], supportsImageSizes: ['1024x1024', '1536x1024'] };
    const written = openaiImages.writeCall(call, 'up', quirks);
    expect(decode(written.body)).toEqual({ model: 'up', prompt: 'A cat', size: '1536x1024' });
    expect(written.warnings).toHaveLength(2);
    const passed = openaiImages.passCall(call, 'up', quirks);
    expect([decode(passed.body), passed.warnings]).toEqual([decode(written.body), written.warnings]);
    const plain = read({ model: 'm', prompt: 'A cat' });
    expect(openaiImages.passCall(plain, 'm', quirks)).toEqual({ body: plain.origin.body, warnings: [] });
    const shaped = openaiImages.writeCall(call, 'up', { requiresImageRatios: ['1:1', '16:9'] });
    expect(decode(shaped.body)).toMatchObject({ aspect_ratio: '16:9' });
  });
});

describe('a reply with filtered images', () => {
  const call = read({ model: 'm', prompt: 'A cat' });
  const eventsOf = (...data: object[]) => {
    const reader = openaiImages.reader(call, 'application/json', {});
    return [...reader.read(encode({ created: 1, data })), ...reader.end()].flatMap((frame) => frame.events);
  };

  test('counts the images that arrived', () => {
    const error = { code: 'OutputImageSensitiveContentDetected', message: 'Not that.' };
    const events = eventsOf({ error }, { url: 'https://a.test/1.png' });
    expect(events.filter(({ type }) => type === 'part-start')).toHaveLength(1);
    expect(events.find(({ type }) => type === 'usage')).toMatchObject({ usage: { images: 1 } });
    expect(eventsOf({ error }).at(-1)).toMatchObject({ error: { code: 'upstream_refused', message: 'Not that.' } });
    const failure = { code: 'InternalServiceError', message: 'disk' };
    expect(eventsOf({ error: failure }).at(-1)).toMatchObject({ error: { code: 'upstream_failed' } });
    expect(eventsOf({ url: '', respect_moderation: false }).at(-1)).toMatchObject({
      error: { code: 'upstream_refused' },
    });
    expect(eventsOf({}).at(-1)).toMatchObject({ error: { code: 'upstream_failed' } });
  });
});

const STREAM = [
  'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","b64_json":"iVBORw0K","partial_image_index":0}\n\n',
  'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"iVBORw0KGgo=","created_at":5,"usage":{"input_tokens":4,"output_tokens":9,"total_tokens":13,"input_tokens_details":{"text_tokens":4,"image_tokens":0}}}\n\n',
].join('');

describe('a stream', () => {
  const call = read({ model: 'm', prompt: 'A cat', stream: true });
  const framesOf = (size: number): Frame[] => {
    const reader = openaiImages.reader(call, 'text/event-stream', {});
    const bytes = new TextEncoder().encode(STREAM);
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length; at += size) frames.push(...reader.read(bytes.slice(at, at + size)));
    return [...frames, ...reader.end()];
  };
  const meaning = (frames: Frame[]) => frames.map((frame) => [new TextDecoder().decode(frame.bytes), frame.events]);

  test('chunk boundaries do not change the frames, and their bytes are the stream', () => {
    const whole = framesOf(10_000);
    for (const size of [1, 7, 50]) expect(meaning(framesOf(size))).toEqual(meaning(whole));
    expect(whole.map((frame) => new TextDecoder().decode(frame.bytes)).join('')).toBe(STREAM);
  });

  test('read and written again is the same stream', () => {
    const writer = openaiImages.writer(call);
    const bytes = Buffer.concat([...framesOf(20).map((frame) => writer.write(frame)), writer.end()]);
    const reader = openaiImages.reader(call, 'text/event-stream', {});
    const again = [...reader.read(bytes), ...reader.end()].flatMap((frame) => frame.events);
    expect(again).toEqual(framesOf(20).flatMap((frame) => frame.events));
  });

  test('of a provider that cannot stream is one event at the end', () => {
    const reader = openaiImages.reader(call, 'application/json', {});
    const frames = [...reader.read(encode({ created: 5, data: [{ b64_json: 'iVBORw0KGgo=' }] })), ...reader.end()];
    const writer = openaiImages.writer(call);
    const text = Buffer.concat([...frames.map((frame) => writer.pass(frame)), writer.end()]).toString();
    expect(text).toStartWith(
      'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"iV',
    );
    expect(text.split('\n\n')).toHaveLength(2);
  });

  test('that breaks off is not a complete reply', () => {
    const reader = openaiImages.reader(call, 'text/event-stream', {});
    const events = [...reader.read(new TextEncoder().encode(STREAM.slice(0, 150))), ...reader.end()];
    expect(events.flatMap((frame) => frame.events).at(-1)?.type).toBe('error');
  });
});

describe('recorded', () => {
  const call = read({ model: 'm', prompt: 'A cat' });
  const cases = [...recordedCases('openai-images'), ...recordedCases('openai-images-edits')].filter(
    ({ stream }) => !stream,
  );

  test('there are recordings', () => expect(cases.length).toBeGreaterThan(3));

  test.each(cases.filter(({ status }) => status === 200).map((one) => [one.file, one] as const))('%s', (_, one) => {
    const bytes = Buffer.from(replyBytes(one));
    const reader = openaiImages.reader(call, 'application/json', {});
    const frames = [...reader.read(bytes), ...reader.end()];
    const reply = emptyReply();
    for (const event of frames.flatMap((frame) => frame.events)) addEvent(reply, event);
    const original = decode(bytes);
    expect(reply.choices).toHaveLength(original.data.length);
    expect(reply.usage?.images).toBe(original.data.length);
    const passing = openaiImages.writer(call);
    expect(Buffer.concat([...frames.map((frame) => passing.pass(frame)), passing.end()])).toEqual(bytes);
    const anew = openaiImages.writer(call);
    const written = decode(Buffer.concat([...frames.map((frame) => anew.write(frame)), anew.end()]));
    const views = (rows: { url?: string; b64_json?: string }[]) => rows.map(({ url, b64_json }) => url ?? b64_json);
    expect(views(written.data)).toEqual(views(original.data));
  });

  test.each(cases.map((one) => [one.file, one] as const))('the request of %s', (file, one) => {
    const request = requestBytes(one);
    if (request)
      expect(read(Buffer.from(request), file.includes('edit') ? 'edits' : 'generations').prompt).not.toBe('');
  });
});
