/** Detects the type of an image from the start of its base64, or from the name of its format. */
import type { ImageFormat } from '../../canonical/call.ts';

const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
];

/** Returns `undefined` for an unknown type. */
export function typeOfBase64(base64: string): string | undefined {
  return BEGINNINGS.find(([mark]) => base64.startsWith(mark))?.[1];
}

export function typeOfFormat(format: ImageFormat): string {
  return format === 'svg' ? 'image/svg+xml' : `image/${format}`;
}
