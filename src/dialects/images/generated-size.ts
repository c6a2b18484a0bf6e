/** The size a provider is asked to draw in the place of the one its client asked for: of those it can draw, the nearest. */
import {
  boundedSize,
  type ImageSize,
  nearestSize,
  type PixelSize,
  pixelsOf,
  readPixels,
  writePixels,
} from '../../canonical/image-size.ts';
import type { Quirks } from '../dialect.ts';

/** `undefined` where nobody names a size. `losses` says where it is another than the one asked for. */
export function drawnSize(size: ImageSize, quirks: Quirks, losses: string[]): PixelSize | undefined {
  const { supportsImageSizes = [], supportsImageBounds, requiresImageSize } = quirks;
  const asked = pixelsOf(size);
  if (!asked) return requiresImageSize ? readPixels(supportsImageSizes[0] ?? '') : undefined;
  const listed = readPixels(nearestSize(size, supportsImageSizes)?.said ?? '');
  const drawn = listed ?? (supportsImageBounds ? boundedSize(asked, supportsImageBounds) : asked);
  if (writePixels(drawn) !== writePixels(asked))
    losses.push(
      `The size ${writePixels(asked)} was taken as ${writePixels(drawn)}: the model generates no closer size.`,
    );
  return drawn;
}

/** The word for a size of which only its fineness is asked for, where the provider knows that word. */
export function finenessWord({ pixels, aspectRatio, fineness }: ImageSize, quirks: Quirks): string | undefined {
  if (pixels || aspectRatio !== undefined || fineness === undefined) return undefined;
  return quirks.supportsImageSizeNames?.find((word) => word === fineness);
}
