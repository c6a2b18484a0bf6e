import { expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { imageCall } from '../../../test/helpers/image-call.ts';
import { askedPiece, highestPiece } from './pieces.ts';
import { quote } from './quote.ts';

test('quality and size of images are read from the call', () => {
  expect(askedPiece(imageCall({ size: { pixels: { width: 64, height: 32 } }, quality: 'high' }))).toEqual({
    size: '64x32',
    quality: 'high',
  });
  expect(askedPiece(imageCall({ size: { fineness: '2K', aspectRatio: '1:1' }, quality: 'auto' }))).toEqual({
    size: '2K',
  });
  expect(askedPiece(imageCall({}))).toEqual({});
  expect(askedPiece(chatCall({ image: { size: '4K' } }))).toEqual({ size: '4K' });
});

const IMAGES = [
  { size: '64x64', price: 4n },
  { size: '64x64', quality: 'high', price: 9n },
  { size: '32x32', price: 2n },
];

test('an image without a stated size or quality has the highest price', () => {
  expect(highestPiece(IMAGES, 1n, {})).toBe(9n);
  expect(highestPiece(IMAGES, 1n, { size: '32x32' })).toBe(2n);
  expect(highestPiece(IMAGES, 1n, { size: '64x64' })).toBe(9n);
  expect(highestPiece(IMAGES, 1n, { size: '64x64', quality: 'low' })).toBe(4n);
  expect(highestPiece(IMAGES, 1n, { size: '8x8', quality: 'low' })).toBe(1n);
  expect(quote(imageCall({ n: 3 }), { images: IMAGES, perImage: 1n }, 0)).toBe(27n);
});
