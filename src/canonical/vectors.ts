/** Converts vectors between numbers and base64 of little-endian float32. */
import type { Vector } from './reply.ts';

const FLOAT_BYTES = 4;

/** Numbers are unchanged; float32 values become equal numbers. */
export function vectorNumbers({ values }: Vector): readonly number[] {
  if (typeof values !== 'string') return values;
  const bytes = Buffer.from(values, 'base64');
  return Array.from({ length: Math.floor(bytes.length / FLOAT_BYTES) }, (_, place) =>
    bytes.readFloatLE(place * FLOAT_BYTES),
  );
}

/** Each number is rounded to the nearest float32. */
export function vectorBase64({ values }: Vector): string {
  if (typeof values === 'string') return values;
  const bytes = Buffer.allocUnsafe(values.length * FLOAT_BYTES);
  for (const [place, value] of values.entries()) bytes.writeFloatLE(value, place * FLOAT_BYTES);
  return bytes.toString('base64');
}
