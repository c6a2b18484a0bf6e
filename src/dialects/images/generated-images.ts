/**
 * Shared by the image formats that only providers speak: makes events of the images, and warnings for what the format
 * cannot express.
 */
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { nearestRatio } from '../../canonical/image-size.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import { typeOfBase64 } from './image-type.ts';

/** An image as the provider returned it. */
export interface GeneratedImage {
  base64?: string;
  url?: string;
  mimeType?: string;
  revisedPrompt?: string;
}

/** All events of a non-streaming reply but the last. `refusal`: the reason if there are no images. */
export function generatedEvents(
  made: readonly GeneratedImage[],
  call: ImageCall,
  refusal: string | undefined,
): ReplyEvent[] {
  if (made.length === 0) throw refused(refusal);
  const handedOver = call.images.length > 0 ? { inputImages: call.images.length } : {};
  return [
    { type: 'reply-start', id: '', model: call.model },
    ...made.flatMap((one, choice) => imageEvents(one, choice)),
    { type: 'usage', usage: { input: 0, output: 0, images: made.length, ...handedOver, source: 'reported' } },
  ];
}

function imageEvents({ base64, url, mimeType, revisedPrompt }: GeneratedImage, choice: number): ReplyEvent[] {
  const opens = {
    type: 'image' as const,
    mimeType: mimeType ?? typeOfBase64(base64 ?? '') ?? 'image/png',
    ...(base64 === undefined && url !== undefined && { url }),
    ...(revisedPrompt !== undefined && { revisedPrompt }),
  };
  return [
    { type: 'part-start', choice, part: 0, opens },
    ...(base64 === undefined ? [] : [{ type: 'part-delta' as const, choice, part: 0, delta: base64 }]),
    { type: 'part-end', choice, part: 0 },
    { type: 'choice-end', choice, finish: { reason: 'stop' } },
  ];
}

function refused(why = 'The model returned no image.'): GatewayError {
  return new GatewayError('upstream_refused', why, { providerCode: 'content_filter' });
}

/** Picks the nearest of the provider's aspect ratios. A different one than requested is reported in `losses`. */
export function fittedRatio({ size }: ImageCall, ratios: readonly string[], losses: string[]): string | undefined {
  const ratio = nearestRatio(size, ratios);
  if (size.pixels)
    losses.push(
      `The size ${size.pixels.width}x${size.pixels.height} was requested as an aspect ratio: the model chooses its own sizes.`,
    );
  else if (ratio && !ratio.exact)
    losses.push(`The aspect ratio was changed to ${ratio.nearest}, the nearest that the model supports.`);
  return ratio?.nearest;
}

const WIRE_NAMES = {
  quality: 'quality',
  style: 'style',
  background: 'background',
  negativePrompt: 'negative_prompt',
  seed: 'seed',
  format: 'output_format',
  compression: 'output_compression',
  partialImages: 'partial_images',
  user: 'user',
  mask: 'mask',
} as const;

/** A warning for each setting that the format cannot express. `supported`: those that it can. */
export function unsupportedSettings(call: ImageCall, handled: readonly (keyof typeof WIRE_NAMES)[]): string[] {
  const members = (Object.keys(WIRE_NAMES) as (keyof typeof WIRE_NAMES)[]).filter(
    (member) => call[member] !== undefined && !handled.includes(member),
  );
  const extras = Object.values(call.extras).flatMap((all) => Object.keys(all));
  const names = [...members.map((member) => WIRE_NAMES[member]), ...extras];
  return names.map((name) => `\`${name}\` was dropped: the provider has no such member.`);
}

export function encoded(body: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body));
}
