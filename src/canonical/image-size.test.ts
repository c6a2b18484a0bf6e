import { describe, expect, test } from 'bun:test';
import { boundedSize, finenessOf, nearestRatio, nearestSize, pixelsOf, readImageSize } from './image-size.ts';

describe('image sizes are parsed', () => {
  test.each([
    ['1024x768', { pixels: { width: 1024, height: 768 } }],
    ['1024*768', { pixels: { width: 1024, height: 768 } }],
    ['1024 × 768', { pixels: { width: 1024, height: 768 } }],
    ['16:9', { aspectRatio: '16:9' }],
    ['2k', { fineness: '2K' }],
    ['9:19.5', { aspectRatio: '9:19.5' }],
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
    expect(readImageSize(text)).toEqual(size);
  });

  test('sizes are converted to pixels', () => {
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
  ])('the nearest size to %s is %s', (text, nearest, exact) => {
    expect(nearestSize(readImageSize(text) ?? {}, SIZES)).toEqual({ nearest, exact });
  });

  test.each([
    ['1600x900', '16:9', true],
    ['1376x768', '16:9', true],
    ['1000x999', '1:1', true],
    ['1000x300', '16:9', false],
  ])('%s has approximately the aspect ratio %s', (text, nearest, exact) => {
    expect(nearestRatio(readImageSize(text) ?? {}, ['1:1', '16:9', '9:16'])).toEqual({ nearest, exact });
  });

  const SEEDREAM = { least: 3_686_400, most: 16_777_216, mostRatio: 16 };
  const GPT = { grid: 16, mostRatio: 3, mostSide: 3840, least: 655_360, most: 8_294_400 };
  test.each([
    ['2560x1440', SEEDREAM, '2560x1440'],
    ['1024x1024', SEEDREAM, '1920x1920'],
    ['1000x500', SEEDREAM, '2715x1358'],
    ['8000x100', { mostRatio: 4 }, '1789x448'],
    ['1536x864', GPT, '1536x864'],
    ['1000x1000', GPT, '1008x1008'],
    ['8192x8192', GPT, '2880x2880'],
    ['5000x1000', GPT, '3840x1280'],
    ['256x256', GPT, '816x816'],
    ['100x100', { leastSide: 512, mostSide: 2048 }, '512x512'],
    ['4096x2048', { grid: 32, leastSide: 1024, mostSide: 2048, most: 2 ** 22 }, '2048x1024'],
    ['1024x768', {}, '1024x768'],
  ])('%s within %o becomes %s', (text, bounds, drawn) => {
    const { pixels } = readImageSize(text) ?? {};
    const { width, height } = boundedSize(pixels ?? { width: 0, height: 0 }, bounds);
    expect(`${width}x${height}`).toBe(drawn);
  });

  test('without a requested size there is no result', () => {
    expect([nearestRatio({}, ['1:1']), nearestSize({}, SIZES), finenessOf({})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(['1024x1024', '2048x2048', '4096x4096'].map((size) => finenessOf(readImageSize(size) ?? {}))).toEqual([
      '1K',
      '2K',
      '4K',
    ]);
  });
});
