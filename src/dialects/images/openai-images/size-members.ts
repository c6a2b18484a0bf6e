/** Writes the image size as the provider expects it: pixels, an aspect ratio, or both in separate members. */
import type { ImageCall } from '../../../canonical/call.ts';
import { finenessOf, nearestRatio, writePixels } from '../../../canonical/image-size.ts';
import type { JsonMembers } from '../../../canonical/json.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { finenessWord, generatedSize } from '../generated-size.ts';

/** The size members of a request. A size that the model does not support is reported in `losses`. */
export function sizeMembers({ size }: ImageCall, quirks: Quirks, losses: string[]): JsonMembers {
  if (quirks.requiresImageRatios) return shapeMembers(size, quirks, losses);
  const word = finenessWord(size, quirks);
  if (word !== undefined) return { size: word };
  const generated = generatedSize(size, quirks, losses);
  if (!generated) return {};
  return quirks.requiresImageSides
    ? { width: generated.width, height: generated.height }
    : { size: writePixels(generated) };
}

function shapeMembers(size: ImageCall['size'], quirks: Quirks, losses: string[]): JsonMembers {
  const ratio = nearestRatio(size, quirks.requiresImageRatios ?? []);
  if (ratio && !ratio.exact)
    losses.push(`The size was taken as the aspect ratio ${ratio.nearest}: the model generates no closer size.`);
  const fineness = finenessOf(size);
  const resolution = quirks.supportsImageResolutions?.[fineness ?? ''];
  if (size.pixels)
    losses.push(
      `The size ${writePixels(size.pixels)} was requested as an aspect ratio: the model chooses its own sizes.`,
    );
  else if (fineness !== undefined && resolution?.toUpperCase() !== fineness)
    losses.push(`The size ${fineness} was taken as ${resolution ?? 'the only one'}: the model generates no other.`);
  return { ...(ratio && { aspect_ratio: ratio.nearest }), ...(resolution !== undefined && { resolution }) };
}

/** The same for the client's own body: replaces the client's size members by the provider's. */
export function sizePatches(call: ImageCall, quirks: Quirks, members: JsonMembers): JsonMembers {
  const { requiresImageRatios, supportsImageSizes, supportsImageBounds, requiresImageSides } = quirks;
  if (!requiresImageRatios && !supportsImageSizes && !supportsImageBounds && !requiresImageSides) return {};
  const { pixels, aspectRatio, fineness } = call.size;
  const isUnset = !pixels && aspectRatio === undefined && fineness === undefined;
  if (isUnset) return members;
  return { size: undefined, aspect_ratio: undefined, ...members };
}
