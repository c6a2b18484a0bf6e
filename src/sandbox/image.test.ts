import { expect, test } from 'bun:test';
import { crc32, inflateSync } from 'node:zlib';
import { GatewayError } from '../canonical/errors.ts';
import { generateImage, imageSize, pngSize } from './image.ts';

/** The chunks of a PNG with valid checksums. */
function chunksOf(png: Uint8Array): Map<string, Buffer> {
  const view = Buffer.from(png);
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < view.length; ) {
    const length = view.readUInt32BE(at);
    const named = view.subarray(at + 4, at + 8 + length);
    expect(view.readUInt32BE(at + 8 + length)).toBe(crc32(named));
    chunks.set(named.toString('latin1', 0, 4), named.subarray(4));
    at += length + 12;
  }
  return chunks;
}

test('an image is a valid PNG of the requested size, with a pattern derived from the prompt', () => {
  for (const size of [
    { width: 64, height: 32 },
    { width: 1024, height: 768 },
    { width: 3, height: 5 },
  ]) {
    const png = generateImage('a cat', size);
    expect(pngSize(png)).toEqual(size);
    const chunks = chunksOf(png);
    expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND']);
    expect(inflateSync(chunks.get('IDAT') ?? '')).toHaveLength((size.width + 1) * size.height);
    expect(generateImage('a cat', size)).toEqual(png);
    expect(generateImage('a dog', size)).not.toEqual(png);
  }
});

test('aspect ratios give the documented sizes', () => {
  expect(imageSize({})).toEqual({ width: 1024, height: 1024 });
  expect(imageSize({ aspectRatio: '3:2', size: '2K' })).toEqual({ width: 2496, height: 1664 });
  expect(imageSize({ aspectRatio: '9:16', size: '1k' })).toEqual({ width: 768, height: 1376 });
  for (const wrong of [{ aspectRatio: '0:1' }, { aspectRatio: 'wide' }, { aspectRatio: '16:9x' }, { size: '3K' }])
    expect(() => imageSize(wrong)).toThrow(GatewayError);
});

test('data that is not a PNG has no size', () => {
  expect(pngSize(Buffer.from('GIF89a'))).toBeUndefined();
});
