/** Writes the images to edit as JSON members. */

import type { Image, ImageCall } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { mediaUrl } from '../../shared/outgoing-media.ts';
import type { Quirks } from '../../shared/quirks.ts';

/** What the provider cannot express is reported in `losses`. */
export function editMembers({ images, mask }: ImageCall, { requiresEditImages }: Quirks, losses: string[]): JsonObject {
  const addresses = images.map((image) => mediaUrl(image));
  const [first = '', ...others] = addresses;
  const typed = (media: Image): Json => ({ type: 'image_url', url: mediaUrl(media) });
  if (mask && requiresEditImages !== undefined) losses.push('`mask` was dropped: the provider has no such member.');
  switch (requiresEditImages) {
    case undefined:
      return {
        images: addresses.map((address) => ({ image_url: address })),
        ...(mask && { mask: { image_url: mediaUrl(mask) } }),
      };
    case 'typed':
      return others.length > 0 ? { images: images.map(typed) } : { image: { type: 'image_url', url: first } };
    case 'bare':
      return { image: others.length > 0 ? addresses : first };
    case 'numbered':
      return Object.fromEntries(
        addresses.map((address, index) => [index === 0 ? 'image' : `image${index + 1}`, address]),
      );
    case 'image_url':
      if (others.length > 0) losses.push('Only the first image was used: the model accepts one.');
      return { image_url: first };
    case 'reference_images':
      return { reference_images: addresses };
    default:
      return requiresEditImages satisfies never;
  }
}
