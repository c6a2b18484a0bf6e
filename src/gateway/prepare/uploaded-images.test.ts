import { expect, test } from 'bun:test';
import { imageCall } from '../../../test/helpers/image-call.ts';
import type { UploadedImage } from '../../canonical/call.ts';
import { uploadOf } from '../../canonical/upload.ts';
import { hasUploads, withInlineUploads } from './uploaded-images.ts';

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
const CALL = imageCall({ images: [uploaded('one'), inline('two')], mask: uploaded('mask'), edit: true });

test('files become inline images, the mask too; inline images are unchanged', async () => {
  expect(hasUploads(CALL)).toBe(true);
  const call = await withInlineUploads(CALL);
  expect(call).toEqual({ ...CALL, images: [inline('one'), inline('two')], mask: inline('mask') });
  expect(hasUploads(call)).toBe(false);
});

test('a mask alone is an upload too', () => {
  expect(hasUploads({ ...CALL, images: [inline('two')] })).toBe(true);
});
