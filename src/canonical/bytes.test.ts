import { expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import { bytesEqualAt, copyStretch, sliceBytes, textIn } from './bytes.ts';

/** Bytes of both kinds, and two ordered positions in them. Long slices exceed the copy limit. */
const stretches = fc
  .tuple(
    fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constant(new Uint8Array(20_000).fill(120))),
    fc.nat(),
    fc.nat(),
    fc.boolean(),
  )
  .map(([all, a, b, isBuffer]) => {
    const [from = 0, to = 0] = [a % (all.length + 1), b % (all.length + 1)].sort((x, y) => x - y);
    return { bytes: isBuffer ? Buffer.from(all) : all, from, to, wanted: [...all].slice(from, to) };
  });

test('a slice has the right bytes at any length and in both kinds of memory', () => {
  fc.assert(
    fc.property(stretches, fc.nat({ max: 3 }), ({ bytes, from, to, wanted }, at) => {
      expect([...sliceBytes(bytes, from, to)]).toEqual(wanted);
      const target = Buffer.alloc(at + wanted.length + 1, 7);
      copyStretch(bytes, from, to, target, at);
      expect([...target]).toEqual([...Array<number>(at).fill(7), ...wanted, 7]);
      expect(bytesEqualAt(bytes, from, Uint8Array.from(wanted))).toBe(true);
      expect(bytesEqualAt(bytes, from, Uint8Array.from([...wanted, (bytes[to] ?? 0) ^ 1]))).toBe(false);
    }),
  );
});

test('text is decoded equally from both kinds of bytes: invalid bytes are replaced, and a byte order mark is kept', () => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const texts = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(texts, fc.boolean(), (bytes, isMarked) => {
      const all = isMarked ? Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes]) : Uint8Array.from(bytes);
      const wanted = decoder.decode(all);
      expect(textIn(all, 0, all.length)).toBe(wanted);
      expect(textIn(Buffer.from(all), 0, all.length)).toBe(wanted);
    }),
  );
});
