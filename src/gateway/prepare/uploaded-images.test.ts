import { expect, test } from 'bun:test';
import type { ImageCall, UploadedImage } from '../../canonical/call.ts';
import { uploadOf } from '../../canonical/upload.ts';
import type { VendorDialect } from '../../dialects/dialect.ts';
import { isUploaded, withUploadsFor } from './uploaded-images.ts';

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

const route = (takes: boolean) => ({
  dialect: { name: 'd', takesUploads: () => takes } as unknown as VendorDialect,
  target: { model: 'm', baseUrl: 'http://p.test', credential: undefined, settings: {} },
  quirks: {},
});

test('files go as they lie to a target that is sent a form', async () => {
  expect(await withUploadsFor(route(true), CALL)).toBe(CALL);
});

test('for all others they are read, the mask too; what is inline stays', async () => {
  const call = await withUploadsFor(route(false), CALL);
  expect(call).toEqual({ ...CALL, images: [inline('one'), inline('two')], mask: inline('mask') });
  expect(call.images.some(isUploaded)).toBe(false);
});

test('a call without files is itself', async () => {
  const { mask: _, ...rest } = CALL;
  const call: ImageCall = { ...rest, images: [inline('two')] };
  expect(await withUploadsFor(route(false), call)).toBe(call);
});
