import { expect, test } from 'bun:test';
import type { ImageCall, UploadedImage } from '../../canonical/call.ts';
import { uploadOf } from '../../canonical/upload.ts';
import type { TargetCall } from '../target-call.ts';
import { inlineUploads, isUploaded } from './uploaded-images.ts';

const uploaded = (text: string): UploadedImage => ({
  kind: 'image',
  mimeType: 'image/png',
  source: { type: 'upload', upload: uploadOf(Buffer.from(text)) },
});
const inline = (text: string) => ({
  kind: 'image' as const,
  mimeType: 'image/png',
  source: { type: 'inline' as const, base64: Buffer.from(text).toString('base64') },
});
const CALL: ImageCall = {
  kind: 'image',
  model: 'm',
  origin: { dialect: 'openai-images', body: new Uint8Array() },
  extras: {},
  headers: {},
  stream: false,
  prompt: 'A cat',
  images: [uploaded('one'), inline('two')],
  mask: uploaded('mask'),
  edit: true,
  n: 1,
  size: {},
};

const callTo = (takesUploads: boolean, call: ImageCall) =>
  ({
    call,
    route: {
      dialect: { name: 'd', takesUploads: () => takesUploads },
      target: { model: 'm', baseUrl: 'http://p.test', credential: undefined, settings: {} },
      quirks: {},
    },
  }) as unknown as TargetCall;

test('a target that takes forms is sent the files', async () => {
  const prepared = callTo(true, CALL);
  expect(inlineUploads.applies(prepared)).toBe(true);
  await inlineUploads.run(prepared);
  expect(prepared.call).toBe(CALL);
});

test('other targets are sent inline images, the mask too; what is inline stays', async () => {
  const prepared = callTo(false, CALL);
  await inlineUploads.run(prepared);
  expect(prepared.call).toEqual({ ...CALL, images: [inline('one'), inline('two')], mask: inline('mask') });
  expect((prepared.call as ImageCall).images.some(isUploaded)).toBe(false);
});

test('the step does not apply to a call without files', () => {
  const { mask: _, ...rest } = CALL;
  expect(inlineUploads.applies(callTo(false, { ...rest, images: [inline('two')] }))).toBe(false);
});
