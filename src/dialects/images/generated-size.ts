/** Picks the image size to request: of the sizes that the provider supports, the nearest to the requested one. */
import {
  boundedSize,
  type ImageSize,
  nearestSize,
  type PixelSize,
  pixelsOf,
  readPixels,
  writePixels,
} from '../../canonical/image-size.ts';
import type { Quirks } from '../shared/quirks.ts';

/** Returns `undefined` if no size is named. A different size than requested is reported in `losses`. */
export function generatedSize(size: ImageSize, quirks: Quirks, losses: string[]): PixelSize | undefined {
  const { supportsImageSizes = [], supportsImageBounds, requiresImageSize } = quirks;
  const asked = pixelsOf(size);
  if (!asked) return requiresImageSize ? readPixels(supportsImageSizes[0] ?? '') : undefined;
  const listed = readPixels(nearestSize(size, supportsImageSizes)?.nearest ?? '');
  const generated = listed ?? (supportsImageBounds ? boundedSize(asked, supportsImageBounds) : asked);
  if (writePixels(generated) !== writePixels(asked))
    losses.push(
      `The size ${writePixels(asked)} was changed to ${writePixels(generated)}, the nearest that the model supports.`,
    );
  return generated;
}

/** The provider's word for a resolution class (`2K`), if the call asks for a class only and the provider knows it. */
export function finenessWord({ pixels, aspectRatio, fineness }: ImageSize, quirks: Quirks): string | undefined {
  if (pixels || aspectRatio !== undefined || fineness === undefined) return undefined;
  return quirks.supportsImageSizeNames?.find((word) => word === fineness);
}
