import { describe, expect, test } from 'bun:test';
import { finenessOf, nearestRatio, nearestSize, pixelsOf, readPictureSize } from './image-size.ts';

describe('sizes of pictures', () => {
  test.each([
    ['1024x768', { pixels: { width: 1024, height: 768 } }],
    ['1024*768', { pixels: { width: 1024, height: 768 } }],
    ['1024 × 768', { pixels: { width: 1024, height: 768 } }],
    ['16:9', { aspectRatio: '16:9' }],
    ['2k', { fineness: '2K' }],
    ['auto', {}],
    ['', {}],
    ['0x10', undefined],
    ['10x0', undefined],
    ['99999x1', undefined],
    ['100000x1', undefined],
    ['0:1', undefined],
    ['large', undefined],
    ['-1x1', undefined],
    ['1e3x1', undefined],
  ])('%p', (text, size) => {
    expect(readPictureSize(text)).toEqual(size);
  });

  test('as pixels', () => {
    expect(pixelsOf({})).toBeUndefined();
    expect(pixelsOf({ aspectRatio: '1:1' })).toEqual({ width: 1024, height: 1024 });
    expect(pixelsOf({ aspectRatio: '16:9', fineness: '2K' })).toEqual({ width: 2720, height: 1536 });
  });

  const SIZES = ['1024x1024', '1536x1024', '1024x1536'];
  test.each([
    ['1024x1024', '1024x1024', true],
    ['1600x900', '1536x1024', false],
    ['512x512', '1024x1024', false],
    ['600x1200', '1024x1536', false],
    ['3:2', '1536x1024', false],
  ])('%s is nearest to %s', (text, said, exact) => {
    expect(nearestSize(readPictureSize(text) ?? {}, SIZES)).toEqual({ said, exact });
  });

  test.each([
    ['1600x900', '16:9', true],
    ['1376x768', '16:9', true],
    ['1000x999', '1:1', true],
    ['1000x300', '16:9', false],
  ])('%s has nearly the shape %s', (text, said, exact) => {
    expect(nearestRatio(readPictureSize(text) ?? {}, ['1:1', '16:9', '9:16'])).toEqual({ said, exact });
  });

  test('nothing asked for is nothing said', () => {
    expect([nearestRatio({}, ['1:1']), nearestSize({}, SIZES), finenessOf({})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(['1024x1024', '2048x2048', '4096x4096'].map((size) => finenessOf(readPictureSize(size) ?? {}))).toEqual([
      '1K',
      '2K',
      '4K',
    ]);
  });
});
